/**
 * What rows are grouped by: columns, what is in those of composite types and of JSON, and those of related rows; and the keys of groups:
 *
 *     type SaleGroupKey { status: Status  soldAt: Datetime  address: PlaceGroupKey!  customer: CustomerGroupKey! }
 *     input SaleGroupBy { status: GroupByValue  soldAt: GroupByTime  address: PlaceGroupBy  customer: CustomerGroupBy  bucket: … }
 *     input SaleGroupKeyOrder { status: OrderByDirection  address: PlaceGroupKeyOrder  customer: CustomerGroupKeyOrder … }
 */
import {
  GraphQLEnumType,
  type GraphQLFieldConfigMap,
  type GraphQLInputFieldConfigMap,
  GraphQLInputObjectType,
  GraphQLNonNull,
  GraphQLObjectType,
} from 'graphql';
import type { Column, CompositeParts, Relation, Table } from '../../model/model.ts';
import { groupUnitNames } from '../../model/naming/graphql-names.ts';
import {
  bucketMember,
  groupableRelations,
  groupedMembers,
  hasBuckets,
  hasGroups,
  hasJsonPaths,
  hasKeys,
  hasRanges,
  isGroupable,
  pathName,
} from '../../model/tables/column-uses.ts';
import { operandScalar } from '../../model/types/named-types.ts';
import { scalars } from '../../model/types/scalars.ts';
import { bindField, bindInput } from '../bindings.ts';
import { emptyRecord } from '../lazy/lazy-object-type.ts';
import { type Groups, inputType, objectType, type TableTypes, type TypeRegistry } from '../lazy/type-registry.ts';
import { asChoice, columnInputs, inputTypeOf, orderByDirection, outputTypeOf } from '../value-types.ts';
import { jsonPath } from './json-types.ts';

type Fields = GraphQLFieldConfigMap<unknown, unknown>;
type InputFields = GraphQLInputFieldConfigMap;

/** The types of tables whose columns are keys of groups. */
export const groupKeyTypes = {
  GroupKey: objectType(
    isReached,
    (registry, table) => keyFields(registry, table, groupableRelations(table)),
    (typeName) => `The key of a group of \`${typeName}\` records`,
  ),
  GroupBy: inputType(isReached, (registry, table) =>
    byFields(
      registry,
      table,
      groupableRelations(table),
      registry.hasOf(table, 'GroupByBucket') && registry.inputOf(table, 'GroupByBucket'),
    ),
  ),
  GroupByBucket: inputType((table, registry) => hasRanges(table) && isReached(table, registry), bucketFields),
  GroupKeyOrder: inputType(isReached, (registry, table) => orderFields(registry, table, groupableRelations(table))),
} as const satisfies Partial<TableTypes>;

/** Whether the columns of a table are keys of its own groups or of those of a table with a relation to it. */
function isReached(table: Table, { groups }: TypeRegistry): boolean {
  return groups !== null && (hasGroups(table) || groups.reached.has(table));
}

/** Defines the keys by the members of composite types, of rows, which have no relations here, and of JSON with a shape. */
export function* defineMemberKeys(registry: TypeRegistry, composites: readonly Table[]): Generator<void, void> {
  for (const table of composites) {
    yield;
    const { groupNames = null } = table.composite ?? {};
    if (groupNames === null || !hasKeys(table)) continue;
    const { key, by, bucket, order } = groupNames;
    const description = `The members of \`${table.typeName}\` that the rows of a group share`;
    registry.define(key, () => new GraphQLObjectType({ name: key, description, fields: () => keyFields(registry, table, []) }));
    const isRanged = hasRanges(table, []);
    const groupedBy = () => byFields(registry, table, [], isRanged && registry.input(bucket));
    registry.define(by, () => new GraphQLInputObjectType({ name: by, fields: groupedBy }));
    if (isRanged) registry.define(bucket, () => new GraphQLInputObjectType({ name: bucket, fields: () => bucketFields(registry, table) }));
    registry.define(order, () => new GraphQLInputObjectType({ name: order, fields: () => orderFields(registry, table, []) }));
  }
}

type GroupNames = { readonly groupNames: NonNullable<CompositeParts['groupNames']> };

/** The columns whose members rows can be grouped by, with the names of their types. */
function* membersIn(table: Table): Generator<readonly [Column, GroupNames], void> {
  for (const column of table.columns) {
    const groupNames = groupedMembers(column, table)?.composite?.groupNames ?? null;
    if (groupNames !== null && !isGroupable(column)) yield [column, { groupNames }];
  }
}

const units = {
  VALUE: 'The same value',
  SECOND: 'The same second',
  MINUTE: 'The same minute',
  HOUR: 'The same hour',
  DAY: 'The same day',
  WEEK: 'The same week, from Monday on',
  MONTH: 'The same month',
  QUARTER: 'The same quarter of a year',
  YEAR: 'The same year',
} as const;
type Unit = keyof typeof units;

/** Defines the enums that all tables share. Runs after all other types are defined, so that these give way if a name is taken. */
export function defineGroupUnits(registry: TypeRegistry): Groups['units'] {
  return {
    value: defineUnits(registry, groupUnitNames.value, ['VALUE']),
    date: defineUnits(registry, groupUnitNames.date, ['VALUE', 'WEEK', 'MONTH', 'QUARTER', 'YEAR']),
    time: defineUnits(registry, groupUnitNames.time, Object.keys(units) as Unit[]),
  };
}

function defineUnits(registry: TypeRegistry, plainName: string, names: readonly Unit[]): GraphQLEnumType {
  const values = Object.fromEntries(names.map((unit) => [unit, { description: units[unit] }]));
  const description = 'How the values of a column are grouped';
  return registry.defineFree(plainName, (name) => new GraphQLEnumType({ name, description, values, ...asChoice }));
}

function keyFields(registry: TypeRegistry, table: Table, relations: readonly Relation[]): Fields {
  const fields: Fields = emptyRecord();
  for (const column of table.columns.filter(isGroupable)) {
    const type = outputTypeOf(column.type, registry);
    if (type)
      fields[column.rowFieldName] = { type, description: column.description, ...bindField('group key', { kind: 'column', column }) };
  }
  for (const [name, column] of registry.jsonTypes ? jsonKeys(table, fields) : []) {
    const description = 'What is at the path that the groups are by; null if they are by none of the column';
    const args = { path: { type: jsonPath.type, description: 'Which path, if they are by several' } };
    fields[name] = {
      type: outputTypeOf(column.type, registry)!,
      description,
      args,
      ...bindField('group key', { kind: 'json value', column }),
    };
  }
  for (const [column, { groupNames }] of membersIn(table)) {
    const type = new GraphQLNonNull(registry.object(groupNames.key));
    fields[column.rowFieldName] = { type, description: column.description, ...bindField('group key', { kind: 'members', column }) };
  }
  for (const relation of relations) {
    const type = registry.objectOf(relation.target, 'GroupKey');
    fields[relation.fieldName] = { type: new GraphQLNonNull(type), ...bindField('group key', { kind: 'relation', relation }) };
  }
  return fields;
}

/** The columns by whose paths groups can be, and their names in keys. One that is taken stays what it is. */
function jsonKeys(table: Table, others: object): (readonly [name: string, column: Column])[] {
  const columns = table.columns.filter((each) => hasJsonPaths(each, table));
  const named = columns.map((column) => [pathName(column.rowFieldName, isGroupable(column)), column] as const);
  return named.filter(([name, column]) => !isGroupable(column) || !Object.hasOwn(others, name));
}

/** An input field for each column and each to-one relation, with the same names as in rows. */
function keyInputs(
  registry: TypeRegistry,
  table: Table,
  relations: readonly Relation[],
  suffix: 'GroupBy' | 'GroupKeyOrder',
  typeOf: (column: Column) => GraphQLEnumType,
): InputFields {
  const at = suffix === 'GroupBy' ? 'group by' : 'group key order';
  const columns = table.columns.filter((column) => isGroupable(column) && outputTypeOf(column.type, registry));
  const fields = columnInputs(at, columns, 'rowFieldName', typeOf);
  const json = registry.jsonTypes && registry.input(registry.jsonTypes[suffix === 'GroupBy' ? 'group' : 'groupOrder']);
  for (const [name, column] of json ? jsonKeys(table, fields) : [])
    fields[name] = { type: json!, ...bindInput(at, { kind: 'json value', column }) };
  for (const [column, { groupNames }] of membersIn(table)) {
    const type = registry.input(suffix === 'GroupBy' ? groupNames.by : groupNames.order);
    fields[column.rowFieldName] = { type, ...bindInput(at, { kind: 'members', column }) };
  }
  for (const relation of relations) {
    const type = registry.inputOf(relation.target, suffix);
    fields[relation.fieldName] = { type, ...bindInput(at, { kind: 'relation', relation }) };
  }
  return fields;
}

function orderFields(registry: TypeRegistry, table: Table, relations: readonly Relation[]): InputFields {
  return keyInputs(registry, table, relations, 'GroupKeyOrder', () => orderByDirection);
}

/** `bucket`: the input of ranges, if there are any. */
function byFields(
  registry: TypeRegistry,
  table: Table,
  relations: readonly Relation[],
  bucket: GraphQLInputObjectType | false,
): InputFields {
  const unitsOf = registry.groups!.units;
  const fields = keyInputs(registry, table, relations, 'GroupBy', ({ type }) => {
    return unitsOf[type.kind === 'scalar' ? scalars[operandScalar(type).scalar].groupUnits : 'value'];
  });
  if (bucket) {
    fields[bucketMember] = {
      type: bucket,
      description: 'Ranges of numbers, by the width of a range: they begin at 0 and at its multiples',
      ...bindInput('group by', { kind: 'bucket' }),
    };
  }
  return fields;
}

function bucketFields(registry: TypeRegistry, table: Table): InputFields {
  return columnInputs('bucket', table.columns.filter(hasBuckets), 'rowFieldName', ({ type }) => inputTypeOf(type, registry));
}
