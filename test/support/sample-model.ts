/** A model of two tables as plain objects, for tests of the pure stages: accounts and their posts, with a column of almost every kind. */
import { noEffects } from '../../src/catalog/effects/find-effects.ts';
import { allAdditions } from '../../src/model/additions.ts';
import type { Column, Model, Relation, Table } from '../../src/model/model.ts';
import type { RelatedRows } from '../../src/model/relations/related-rows.ts';
import { isLookupKey } from '../../src/model/tables/column-uses.ts';
import { postgresType } from '../../src/model/types/postgres-types.ts';
import type { ScalarName } from '../../src/model/types/scalars.ts';
import type { EnumType, ScalarType, ValueType } from '../../src/model/value-type.ts';

/** A scalar type; with `maxLength` it is a varchar. */
export function scalarType(
  scalar: ScalarName,
  typeName: string,
  maxLength: number | null = null,
  sqlType = maxLength === null ? typeName : `${typeName}(${maxLength})`,
): ScalarType {
  const traits = postgresType({ schema: 'pg_catalog', name: typeName === 'integer' ? 'int4' : typeName, kind: 'b' });
  return { kind: 'scalar', scalar, sqlType, typeName, traits, maxLength };
}

export const int4 = scalarType('Int', 'integer');
export const text = scalarType('String', 'text');

/** An enum with these labels; it is mapped if a name differs from its label. */
export function enumOf(values: Readonly<Record<string, string>>): EnumType {
  const listed = Object.entries(values).map(([name, label]) => ({ name, label }));
  const mapped = listed.some(({ name, label }) => name !== label);
  return {
    id: 9,
    schema: 'public',
    name: 'mood',
    typeName: 'Mood',
    description: null,
    values: listed,
    mapped,
    filtersLists: true,
    introspection: true,
  };
}

/** A nullable column with every privilege. */
export function columnOf(name: string, type: ValueType, more: Partial<Column> = {}): Column {
  const usable = {
    measured: null,
    comparable: true,
    orderable: true,
    selectable: true,
    insertable: true,
    required: false,
    updatable: true,
    nullByDefault: false,
    shape: null,
  };
  const ownNames = { name, fieldName: name, rowFieldName: name, filterName: name };
  const rest = { description: null, type, notNull: false, refusesNull: more.notNull ?? false, leadsIndex: false, indexMovesNulls: false };
  return { ...ownNames, ...rest, ...usable, ...more };
}

/** A table with every privilege and pages of 30 rows; its key is the columns that are not null. */
export function tableWith(typeName: string, columns: readonly Column[], more: Partial<Table> = {}): Table {
  const usable = { selectable: true, insertable: true, updatable: true, deletable: true };
  const rest = {
    keyIsUnique: true,
    keyTakesNulls: false,
    keyIsProven: true,
    keepsNotNull: true,
    insertsEveryRow: true,
    insertsFirst: true,
    rowSecurity: false,
    roleIndependent: true,
    readEffects: noEffects,
    writeEffects: noEffects,
    placement: null,
    uniqueKeys: [],
    arbiters: [],
    relations: [],
    lineages: [],
    referrers: [],
    computed: [],
    maxRows: 30,
    liveRefresh: null,
    additions: allAdditions,
    totalCount: true,
    aggregate: true,
    isSearchable: false,
    search: null,
    composite: null,
    introspection: true,
    ...usable,
  };
  const name = typeName.toLowerCase();
  const primaryKey = columns.filter(({ notNull }) => notNull);
  return {
    id: 1,
    schema: 'public',
    name,
    kind: 'table',
    typeName,
    stem: typeName,
    renamedTypes: new Map(),
    description: null,
    columns,
    primaryKey,
    hasLookup: isLookupKey(primaryKey),
    ...rest,
    ...more,
  };
}

/** A model of these tables. */
export function modelOf(tables: readonly Table[], enums: readonly EnumType[] = []): Model {
  return {
    role: 'anon',
    schemas: ['public'],
    tables,
    rowTypes: [],
    composites: [],
    lookups: [],
    routines: [],
    enums,
    domains: [],
    introspection: true,
    nodeIdField: 'nodeId',
    subscriptionType: 'Subscription',
    searchTypes: null,
    searchConfigs: new Map(),
    specifiesScalars: true,
    hasMoreOperators: true,
    hasTrigrams: false,
    listFilters: new Map(),
    rowValues: [],
    typeFilters: new Map(),
    rangeTypes: new Map(),
    geoTypes: null,
    jsonTypes: null,
    measuredInputs: new Set(),
    json: 'string',
    countBuilt: () => tables.length,
  };
}

export const mood = enumOf({ calm: 'calm', wild: 'wild' });

const accountRelations: Relation[] = [];

export const account: Table = tableWith(
  'Account',
  [
    columnOf('id', int4, { notNull: true }),
    columnOf('name', text),
    columnOf('balance', scalarType('BigInt', 'bigint')),
    columnOf('active', scalarType('Boolean', 'boolean')),
    columnOf('mood', { kind: 'enum', enum: mood, sqlType: 'public.mood' }),
    columnOf('tags', { kind: 'list', element: text, sqlType: 'text[]' }, { orderable: false }),
  ],
  { relations: accountRelations },
);

export const post: Table = tableWith(
  'Post',
  [columnOf('id', int4, { notNull: true }), columnOf('account_id', int4), columnOf('title', text)],
  { referrers: [account] },
);

accountRelations.push({
  fieldName: 'posts',
  kind: 'to-many',
  target: post,
  holdsKey: false,
  columns: [{ near: 'id', nearType: int4, target: 'account_id', targetType: int4, collation: null }],
  nullable: false,
  unique: false,
  onlyInRows: false,
  sameRow: false,
});

/** An account related to each account; not part of any model. */
export const twin: RelatedRows = {
  fieldName: 'twin',
  many: false,
  target: account,
  by: {
    kind: 'relation',
    relation: {
      fieldName: 'twin',
      kind: 'to-one',
      target: account,
      holdsKey: true,
      columns: [],
      nullable: true,
      unique: true,
      onlyInRows: false,
      sameRow: false,
    },
  },
};

export const sampleModel: Model = modelOf([account, post], [mood]);
