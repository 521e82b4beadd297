/** Each addition, and what it adds. */
const additionTable = {
  relationFilters: 'Filters by related rows',
  relationOrder: 'Orders by related rows, and by computed fields',
  increment: 'Updates that add to numbers',
  moreAggregates: 'More aggregates: distinct counts, standard deviation and variance, booleans, percentiles',
  groups: 'Groups of rows, with their aggregates',
  distinctOn: 'One row for each combination of values of some columns, as pages with cursors',
  estimatedCounts: 'Total counts that may be estimates of the planner',
  serialInputs: 'Values for serial and identity columns in inserts',
  insertOnly: 'Inserts into tables that the role may not read',
  onConflict: 'Upserts: inserts that update existing rows',
  nestedWrites: 'Inserts and updates that write related rows',
  writtenEdges: 'The records that a mutation wrote, as edges of their collection',
  queryInResponses: 'The field "query" of mutation responses, which reads anything after the write',
  filterGuard: 'Refusal of updates and deletes whose filter has lost its conditions',
  inferredKeys: 'Keys and relations of views, inferred from the tables behind them',
  uniqueLookups: 'Lookups by unique keys other than the primary key',
  recursiveRelations: 'Ancestors and descendants of rows, along keys by which a table refers to itself',
  adaptedNames: 'Legal names for what has a name that GraphQL forbids',
  domains: 'Domains as scalars of their own, with the filters, keys, aggregates and increments of the types that they are based on',
  enums: 'Filters of enum arrays, and enums as arguments and results of functions',
  composites:
    'Composite types as objects, inputs and filters: columns, arguments and results of functions, `returns table` and out parameters too',
  moreFunctions: 'Functions that return sets of values, overloaded functions, and computed fields with arguments',
  moreOperators:
    'More filters: notIn, between, endsWith, containsText, eqi, inI; any, all and length of arrays; applies to the whole schema, so only the setting switches it',
  ranges: 'Ranges and multiranges as objects with bounds, beside their text, in rows, filters and inputs',
  geometry: 'Columns of PostGIS as GeoJSON, with filters by place',
  moreTypes: 'Intervals, network addresses and ltree: filters with all their comparisons, aggregates, and increments of times by intervals',
  json: 'JSON columns: filters, the argument path of their fields, orders and groups by paths, shapes with typed fields, and updates of a part',
  search:
    'Full-text search: the argument search of collections, the filter of that name, ranks and snippets; nearest rows by trigrams of texts',
  vectors: 'Nearest rows by the vectors of pgvector and by points, with their distances, and hybrid search',
  subscriptions: 'Live queries: the type Subscription, with the fields of Query',
  streams: 'Streams: the fields of Subscription that give the rows of a table in an order, each once',
  specifiedBy: '@specifiedBy on custom scalars; applies to the whole schema, so only the setting switches it',
} as const satisfies Record<string, string>;

export type AdditionName = keyof typeof additionTable;

/** All additions, in table order. */
export const additionNames = Object.keys(additionTable) as readonly AdditionName[];
