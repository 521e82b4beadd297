/**
 * Maps PostgreSQL types to GraphQL types: scalars by name, enums, lists, and rows of visible tables. Types without a counterpart become
 * Opaque, but composite types and domains over arrays have no GraphQL type at all.
 */
import type { CatalogColumn, CatalogType } from '../catalog/catalog.ts';
import type { BuildContext } from './build-context.ts';
import type { ScalarName } from './graphql-names.ts';
import type { CompositeType, EnumValueType, ScalarType, UnsupportedType, ValueType } from './model.ts';
import { isNameable, mayOperate } from './out-of-reach.ts';

/** Types in pg_catalog with a scalar of their own. As in pg_graphql, `name` is not among them. */
const scalarNames: Readonly<Record<string, ScalarName>> = {
  text: 'String',
  varchar: 'String',
  bpchar: 'String',
  char: 'String',
  int2: 'Int',
  int4: 'Int',
  int8: 'BigInt',
  numeric: 'BigFloat',
  float4: 'Float',
  float8: 'Float',
  bool: 'Boolean',
  uuid: 'UUID',
  date: 'Date',
  time: 'Time',
  timestamp: 'Datetime',
  timestamptz: 'Datetime',
  json: 'JSON',
  jsonb: 'JSON',
};

/** The value type of an argument or result. Tables and enums must already be in the context. */
export function valueTypeOf(context: BuildContext, typeId: number): ValueType {
  const known = context.valueTypes.get(typeId) ?? makeValueType(context, context.catalog.types.get(typeId));
  context.valueTypes.set(typeId, known);
  return known;
}

/** Types whose values a cast truncates to the length in the modifier, although an assignment rejects longer values. */
const bitStrings: ReadonlySet<string> = new Set(['bit', 'varbit']);

/**
 * The value type of a column, with its modifier, so that values are compared as the column would store them. Bit strings have no modifier
 * here. The modifier of varchar(n) and char(n) truncates nothing, because longer texts are rejected first.
 */
export function columnTypeOf(context: BuildContext, { typeId, maxLength, modifiedType }: CatalogColumn): ValueType {
  const type = valueTypeOf(context, typeId);
  // Types in other schemas would have to be qualified; those in pg_catalog are found with any search path.
  const isBuiltIn = context.catalog.types.get(typeId)?.schema === 'pg_catalog';
  if (modifiedType === null || !isBuiltIn || (type.kind !== 'scalar' && type.kind !== 'list')) return type;
  const element = type.kind === 'list' ? type.element : type;
  if (element.kind === 'scalar' && bitStrings.has(element.typeName)) return type;
  return type.kind === 'scalar' ? { ...type, maxLength, sqlType: modifiedType } : { ...type, sqlType: modifiedType };
}

function makeValueType(context: BuildContext, type: CatalogType | undefined): ValueType {
  if (!type) return { kind: 'unsupported', sqlType: 'text' };
  if (type.elementId !== 0) return listTypeOf(context, type);
  // A domain over an array is in the array category but has no element type.
  if (type.category === 'A') return unsupported(type);
  return type.kind === 'c' ? rowTypeOf(context, type) : scalarOrEnumOf(context, type);
}

/** Whether the column can be written. Does not need tables in the context. */
export function isWritable(context: BuildContext, column: CatalogColumn): boolean {
  const type = context.catalog.types.get(column.typeId);
  return type !== undefined && hasOwnValues(context, type) && isNameable(context, type);
}

/** Whether the type is no composite type, array of one, or domain over an array. */
function hasOwnValues({ catalog }: BuildContext, type: CatalogType): boolean {
  if (type.elementId !== 0) return catalog.types.get(type.elementId)?.kind !== 'c';
  return type.category !== 'A' && type.kind !== 'c';
}

/** Whether the column's type lets rows have it as a field. Tables with a key must already be in the context. */
export function isReadable(context: BuildContext, column: CatalogColumn): boolean {
  const type = context.catalog.types.get(column.typeId);
  const row = type?.elementId ? context.catalog.types.get(type.elementId) : type;
  return (
    (type !== undefined && hasOwnValues(context, type)) ||
    (row?.kind === 'c' && (context.tables.get(row.relationId)?.facts.key ?? null) !== null)
  );
}

/**
 * Whether rows can be ordered by the column: not by arrays and JSON, and by composite types only if they are row types of visible tables.
 */
export function isOrderable({ catalog }: BuildContext, column: CatalogColumn, type: ValueType): boolean {
  const { name, elementId } = catalog.types.get(column.typeId) ?? { name: 'json', elementId: 0 };
  if (elementId !== 0) return name === 'int2vector' || name === 'oidvector';
  if (type.kind === 'composite') return false;
  return type.kind === 'unsupported' ? catalog.types.get(column.typeId)?.kind === 'd' : name !== 'json' && name !== 'jsonb';
}

function listTypeOf(context: BuildContext, type: CatalogType): ValueType {
  const element = context.catalog.types.get(type.elementId);
  if (!element) return unsupported(type);
  if (element.kind !== 'c') {
    const list = { kind: 'list', element: scalarOrEnumOf(context, element), sqlType: type.sql, ...nameability(context, type) } as const;
    return mayOperate(context, type) ? list : { ...list, builtInOperators: true };
  }
  const row = rowTypeOf(context, element);
  return row.kind === 'row' ? { kind: 'row list', table: row.table, sqlType: type.sql } : unsupported(type);
}

function rowTypeOf(context: BuildContext, type: CatalogType): ValueType {
  const owner = context.tables.get(type.relationId);
  return owner && owner.facts.key !== null ? { kind: 'row', table: owner, sqlType: type.sql } : unsupported(type);
}

function scalarOrEnumOf(context: BuildContext, type: CatalogType): ScalarType | EnumValueType {
  const enumType = context.enums.get(type.id);
  if (enumType) return { kind: 'enum', enum: enumType, sqlType: type.sql, ...nameability(context, type) };
  const scalar = { kind: 'scalar', scalar: scalarNameOf(type), sqlType: castableSql(type), typeName: type.name, maxLength: null } as const;
  if (type.enumSql !== null) return { ...scalar, comparedAs: type.enumSql, ...nameability(context, type) };
  return {
    ...scalar,
    ...nameability(context, type),
    ...(nestsInJson(type) && { nestsInJson: true }),
    ...(type.category === 'C' && { composite: true }),
    ...(type.oddlyOrdered && { oddlyOrdered: true }),
    ...(type.unordered && { unordered: true }),
    ...(type.delimiter !== ',' && { delimiter: type.delimiter }),
  };
}

function nameability(context: BuildContext, type: CatalogType): Pick<ScalarType, 'unnameable'> {
  return isNameable(context, type) ? {} : { unnameable: true };
}

/** Composite types are objects in JSON. A user-defined type, or a domain over one, may have a cast to json, which `to_json` uses. */
function nestsInJson({ kind, schema, category }: CatalogType): boolean {
  return category === 'C' || (category === 'U' && (kind === 'd' || schema !== 'pg_catalog'));
}

function scalarNameOf({ schema, name, kind }: CatalogType): ScalarName {
  if (kind !== 'b') return 'Opaque';
  if (schema === 'pg_catalog') return (Object.hasOwn(scalarNames, name) && scalarNames[name]) || 'Opaque';
  return name === 'citext' ? 'String' : 'Opaque';
}

/** Values cannot be cast to polymorphic pseudo-types, so they are cast to text instead. */
function castableSql({ kind, name, sql }: CatalogType): string {
  if (kind !== 'p') return sql;
  return name.endsWith('array') ? 'text[]' : 'text';
}

function unsupported({ kind, sql }: CatalogType): CompositeType | UnsupportedType {
  return { kind: kind === 'c' ? 'composite' : 'unsupported', sqlType: sql };
}
