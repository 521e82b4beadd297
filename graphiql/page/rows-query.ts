/** Writes the GraphQL query of the grid of rows. In: a table, and what the user has chosen; out: a query with its variables. */
import { type GraphQLSchema, getNamedType, isInputObjectType, isListType } from 'graphql';
import type { ApiTable } from './read-tables.ts';

export interface RowsChoice {
  readonly filters: readonly RowsFilter[];
  /** Null leaves the order to the server. */
  readonly order: { readonly column: string; readonly isDescending: boolean } | null;
  /** The cursor after which the page begins; null for the first page. */
  readonly after: string | null;
  readonly pageSize: number;
}

export interface RowsFilter {
  readonly column: string;
  /** An operator of the column's filter: `eq`, `ilike`, … */
  readonly operator: string;
  readonly value: string;
}

export interface RowsQuery {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** The choices that a table offers. */
export interface RowsAbilities {
  /** By column. */
  readonly operators: Readonly<Record<string, readonly string[]>>;
  readonly orderable: ReadonlySet<string>;
  /** The types of the arguments, as in SDL. */
  readonly argumentTypes: Readonly<Record<string, string>>;
}

/** Operators that take one value, the most useful first. */
const knownOperators = ['eq', 'ilike', 'like', 'neq', 'gt', 'gte', 'lt', 'lte', 'startsWith', 'is'];

/** The choices that the schema offers. */
export function readAbilities(schema: GraphQLSchema, { collection }: ApiTable): RowsAbilities {
  const { args } = schema.getQueryType()!.getFields()[collection]!;
  const typeOf = (name: string) => args.find((argument) => argument.name === name)?.type;
  const fieldsOf = (type: unknown) => {
    const named = type === undefined ? null : getNamedType(type as never);
    return isInputObjectType(named) ? Object.values(named.getFields()) : [];
  };
  const operators = fieldsOf(typeOf('filter')).flatMap(({ name, type }) => {
    const known = new Set(fieldsOf(type).flatMap((field) => (isListType(field.type) ? [] : field.name)));
    const usable = knownOperators.filter((operator) => known.has(operator));
    return usable.length === 0 ? [] : [[name, usable] as const];
  });
  return {
    operators: Object.fromEntries(operators),
    orderable: new Set(fieldsOf(typeOf('orderBy')).map(({ name }) => name)),
    argumentTypes: Object.fromEntries(args.map(({ name, type }) => [name, String(type)])),
  };
}

/** The query, with only the arguments that were chosen. */
export function writeRowsQuery(table: ApiTable, choice: RowsChoice, { argumentTypes }: RowsAbilities): RowsQuery {
  const variables = variablesOf(table, choice);
  const names = Object.keys(variables);
  const declared = names.map((name) => `$${name}: ${argumentTypes[name] ?? 'String'}`).join(', ');
  const passed = names.map((name) => `${name}: $${name}`).join(', ');
  const lines = [
    `query ${table.type}Rows(${declared}) {`,
    `  ${table.collection}(${passed}) {`,
    '    edges {',
    '      node {',
    ...table.columns.map(({ name }) => `        ${name}`),
    '      }',
    '    }',
    '    pageInfo {',
    '      hasNextPage',
    '      endCursor',
    '    }',
    '  }',
    '}',
  ];
  return { query: `${lines.join('\n')}\n`, variables };
}

function variablesOf({ columns }: ApiTable, { filters, order, after, pageSize }: RowsChoice): Readonly<Record<string, unknown>> {
  const conditions = filters.map(({ column, operator, value }) => {
    const leaf = columns.find(({ name }) => name === column)?.leaf ?? '';
    return { [column]: { [operator]: readValue(value, operator, leaf) } };
  });
  const [first] = conditions;
  return {
    first: pageSize,
    ...(first !== undefined && { filter: conditions.length === 1 ? first : { and: conditions } }),
    ...(order !== null && { orderBy: [{ [order.column]: order.isDescending ? 'DescNullsLast' : 'AscNullsFirst' }] }),
    ...(after !== null && { after }),
  };
}

/** The JSON value: everything but numbers and booleans is a string. */
function readValue(value: string, operator: string, leaf: string): unknown {
  if (operator === 'is') return value.trim().toUpperCase() === 'NULL' ? 'NULL' : 'NOT_NULL';
  if (leaf === 'Boolean') return value.trim().toLowerCase() === 'true';
  if ((leaf === 'Int' || leaf === 'Float') && value.trim() !== '' && Number.isFinite(Number(value))) return Number(value);
  return value;
}
