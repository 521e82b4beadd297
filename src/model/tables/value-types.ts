/**
 * Maps PostgreSQL types to GraphQL types: scalars by name, enums, lists, and rows of visible tables. Types without a counterpart become
 * Opaque, but composite types and domains over arrays have no GraphQL type at all.
 */
import type { CatalogColumn, CatalogType } from '../../catalog/catalog.ts';
import type { Additions } from '../additions.ts';
import { type BuildContext, compositeTypeIn } from '../build-context.ts';
import { isArrayDomain } from '../types/named-types.ts';
import { otherTypes, type PostgresType, postgresType } from '../types/postgres-types.ts';
import type {
  CompositeType,
  EnumValueType,
  ListType,
  RangeType,
  RowListType,
  RowType,
  ScalarType,
  UnsupportedType,
  ValueType,
} from '../value-type.ts';
import type { LazyTable } from './lazy-table.ts';
import { isNameable, isNamed, mayOperate, nameability } from './type-access.ts';

/** The value type of an argument or result. Tables and enums must already be in the context. */
export function valueTypeOf(context: BuildContext, typeId: number): ValueType {
  const type = context.valueTypes.get(typeId) ?? makeValueType(context, context.catalog.types.get(typeId));
  context.valueTypes.set(typeId, type);
  return type;
}

/**
 * The value type of a column, with its modifier, so that values are compared as the column would store them. Bit strings have no modifier
 * here. The modifier of varchar(n) and char(n) truncates nothing, because longer texts are rejected first.
 */
export function columnTypeOf(context: BuildContext, { typeId, maxLength, modifiedType }: CatalogColumn): ValueType {
  const type = valueTypeOf(context, typeId);
  if (type.kind === 'scalar' && type.traits.geometry !== null) return withSrid(type, modifiedType);
  if (type.kind === 'list' && type.element.kind === 'scalar' && type.element.traits.geometry !== null)
    return { ...type, element: withSrid(type.element, modifiedType) };
  // Types in other schemas would have to be qualified; those in pg_catalog are found with any search path.
  const isBuiltIn = context.catalog.types.get(typeId)?.schema === 'pg_catalog';
  if (modifiedType === null || !isBuiltIn || (type.kind !== 'scalar' && type.kind !== 'list')) return type;
  const element = type.kind === 'list' ? type.element : type;
  if (element.kind === 'scalar' && element.traits.truncates === 'always') return type;
  return type.kind === 'scalar' ? { ...type, maxLength, sqlType: modifiedType } : { ...type, sqlType: modifiedType };
}

/** The type of a column such as `geometry(Point,3857)`. */
function withSrid(type: ScalarType, modifiedType: string | null): ScalarType {
  const [, digits] = /,(\d+)\)(?:\[\])?$/.exec(modifiedType ?? '') ?? [];
  return digits === undefined ? type : { ...type, srid: Number(digits) };
}

function makeValueType(context: BuildContext, type: CatalogType | undefined): ValueType {
  if (!type) return { kind: 'unsupported', sqlType: 'text' };
  if (type.elementId !== 0) return listTypeOf(context, type);
  // A domain over an array is in the array category but has no element type.
  if (type.category === 'A') return arrayDomainOf(context, type);
  return type.kind === 'c' ? rowTypeOf(context, type) : (compositeDomainOf(context, type) ?? scalarOrEnumOf(context, type));
}

/** With the additions, a domain over a composite type or a row is an object, as its base type is. */
function compositeDomainOf(context: BuildContext, type: CatalogType): RowType | undefined {
  if (type.kind !== 'd' || type.category !== 'C' || !hasObjectDomains(context)) return undefined;
  const base = valueTypeOf(context, type.baseId);
  return base.kind === 'row' ? ofDomain(context, base, type) : undefined;
}

function hasObjectDomains({ settings: { additions } }: BuildContext): boolean {
  return additions.has('domains') && additions.has('composites');
}

/** The type of a domain that has all that its base type has. */
function ofDomain<Type extends ListType | RowType | RowListType>(context: BuildContext, base: Type, type: CatalogType): Type {
  const writtenAs = writtenTypeOf(context, type);
  const named = { domainName: type.name, sqlType: type.sql, ...nameability(context, type) };
  return { ...base, ...named, ...(writtenAs !== null && { writtenAs }) };
}

/**
 * The type of a column, argument or result where these additions are on. Without `composites`, domains over composite types and rows are
 * Opaque, and composite types have no GraphQL type.
 */
export function typeWith(context: BuildContext, additions: Additions, typeId: number, type: ValueType): ValueType {
  const narrowed = narrowType(type, additions);
  if (!isAddedObject(narrowed) || additions.has('composites')) return narrowed;
  const catalogType = context.catalog.types.get(typeId);
  const unnameable = !isNamed(narrowed) && ({ unnameable: true } as const);
  if (catalogType?.kind === 'd' && narrowed.kind === 'row') return scalarOrEnumOf(context, catalogType);
  const element = context.catalog.types.get(catalogType?.elementId ?? 0);
  if (element?.kind === 'd') return { kind: 'list', element: scalarOrEnumOf(context, element), sqlType: narrowed.sqlType, ...unnameable };
  return { kind: narrowed.kind === 'row' ? 'composite' : 'unsupported', sqlType: narrowed.sqlType, ...unnameable };
}

/** Whether the type is an object, or a list of objects, by the addition alone: all but the row type of a table, and arrays of it. */
export function isAddedObject(type: ValueType): boolean {
  return isComposite(type) || ((type.kind === 'row' || type.kind === 'row list') && isOfDomain(type));
}

function isOfDomain(type: RowType | RowListType): boolean {
  return type.domainName !== undefined || (type.kind === 'row list' && type.elementDomain !== undefined);
}

function isWritable(context: BuildContext, column: CatalogColumn, additions: Additions): boolean {
  const type = context.catalog.types.get(column.typeId);
  if (type === undefined || !isNameable(context, type)) return false;
  return hasOwnValues(context, type) || (additions.has('composites') && isOrHoldsComposite(context, column.typeId));
}

/** Whether values of the type are, or have as elements, values of a composite type or rows of a table that can be written. */
function isOrHoldsComposite(context: BuildContext, typeId: number): boolean {
  const type = compositeTypeIn(context, typeId);
  const table = type && context.tables.get(type.relationId);
  return type !== undefined && (context.compositeIds.has(type.relationId) || (table && context.rowUses.get(table))?.isWritten === true);
}

/** Whether the type is no composite type, array of one, or, without the addition, domain over an array. */
function hasOwnValues(context: BuildContext, type: CatalogType): boolean {
  const { catalog, settings } = context;
  if (type.elementId !== 0) return catalog.types.get(type.elementId)?.kind !== 'c';
  if (type.category !== 'A') return type.kind !== 'c';
  const base = settings.additions.has('domains') ? catalog.types.get(type.baseId) : undefined;
  return base !== undefined && hasOwnValues(context, base);
}

/**
 * As in pg_graphql, columns that PostgreSQL fills in cannot be inserted, except for the addition: serial ones, and `generated by default`.
 */
export function isInsertable(context: BuildContext, column: CatalogColumn, additions: Additions): boolean {
  return isWritable(context, column, additions) && (!column.automatic || (additions.has('serialInputs') && !column.generatedAlways));
}

export function isUpdatable(context: BuildContext, column: CatalogColumn, additions: Additions): boolean {
  return isWritable(context, column, additions) && !column.automatic;
}

/** Whether the column's type lets rows have it as a field. Tables with a key must already be in the context. */
export function isReadable(context: BuildContext, column: CatalogColumn): boolean {
  const type = context.catalog.types.get(column.typeId);
  const row = compositeTypeIn(context, column.typeId);
  return (type !== undefined && hasOwnValues(context, type)) || (row !== undefined && ownerOf(context, row) !== undefined);
}

/**
 * Whether rows can be ordered by the column: not by arrays and JSON, by composite types only if they are row types of visible tables, or
 * domains, and by domains over arrays only if the role may use their schema.
 */
export function isOrderable(context: BuildContext, column: CatalogColumn, type: ValueType): boolean {
  if (type.kind === 'list' && type.domainName === undefined) return type.isVector === true;
  if ((type.kind === 'row list' && type.domainName === undefined) || type.kind === 'composite') return false;
  if (type.kind === 'row') return type.table.kind !== 'composite type' || type.domainName !== undefined;
  if (type.kind === 'scalar') return type.traits.orders;
  if (!isArrayDomain(type)) return true;
  const domain = context.catalog.types.get(column.typeId);
  // The elements of cursors are cast to a domain over an array.
  return domain?.kind === 'd' && isNameable(context, domain);
}

function listTypeOf(context: BuildContext, type: CatalogType): ValueType {
  const element = context.catalog.types.get(type.elementId);
  if (!element) return unsupported(context, type);
  const row = element.kind === 'c' ? rowTypeOf(context, element) : compositeDomainOf(context, element);
  if (row === undefined) {
    return {
      kind: 'list',
      element: scalarOrEnumOf(context, element),
      sqlType: type.sql,
      ...(postgresType(type).isVector && { isVector: true }),
      ...nameability(context, type),
      ...(!mayOperate(context, type) && { builtInOperators: true }),
    };
  }
  if (row.kind !== 'row') return unsupported(context, type);
  const elementDomain = row.domainName !== undefined && { elementDomain: row.domainName };
  return { kind: 'row list', table: row.table, sqlType: type.sql, ...elementDomain, ...nameability(context, type) };
}

/** With the addition, a domain over an array is a list, as its base type is. */
function arrayDomainOf(context: BuildContext, type: CatalogType): ValueType {
  const base = context.settings.additions.has('domains') ? valueTypeOf(context, type.baseId) : undefined;
  if (base?.kind === 'row list' && hasObjectDomains(context)) return ofDomain(context, base, type);
  return base?.kind === 'list' ? ofDomain(context, base, type) : unsupported(context, type);
}

function rowTypeOf(context: BuildContext, type: CatalogType): ValueType {
  const owner = ownerOf(context, type);
  return owner ? { kind: 'row', table: owner, sqlType: type.sql, ...nameability(context, type) } : unsupported(context, type);
}

/** The table with a key whose row type it is, or the composite type that is an object. */
function ownerOf({ tables, composites }: BuildContext, { relationId }: CatalogType): LazyTable | undefined {
  const table = tables.get(relationId);
  return table && table.traits.key !== null ? table : composites.get(relationId);
}

/** Whether the type is a composite type that is an object, or an array of one. */
function isComposite(type: ValueType): boolean {
  return (type.kind === 'row' || type.kind === 'row list') && type.table.kind === 'composite type';
}

function scalarOrEnumOf(context: BuildContext, type: CatalogType): ScalarType | EnumValueType {
  const enumType = context.enums.get(type.id);
  if (enumType) return { kind: 'enum', enum: enumType, sqlType: type.sql, ...nameability(context, type) };
  const writtenAs = writtenTypeOf(context, type);
  const domain = context.domains.get(type.id);
  const own = typeTraitsIn(context.settings.additions, ownTraits(context, type));
  // What JSON cannot be ordered by is no fault of the domain, as in pg_graphql.
  const traits = domain?.base.kind === 'scalar' ? { ...domain.base.traits, orders: own.orders } : own;
  const scalar = {
    kind: 'scalar',
    scalar: own.scalar,
    // Values cannot be cast to polymorphic pseudo-types.
    sqlType: traits.pseudo?.kind === 'any' ? traits.pseudo.castTo : type.sql,
    typeName: type.name,
    traits,
    maxLength: null,
    ...(writtenAs !== null && { writtenAs }),
    ...(domain && { domain }),
    ...(own.scalar === 'JSON' && context.settings.json === 'object' && ({ isBareJson: true } as const)),
  } as const;
  const trigrams = trigramsOf(context);
  const range = rangeOf(context, type);
  if (type.enumSql !== null) return { ...scalar, comparedAs: type.enumSql, ...nameability(context, type) };
  return {
    ...scalar,
    ...nameability(context, type),
    ...(range !== undefined && { range }),
    ...(nestsInJson(type) && { nestsInJson: true }),
    ...(type.category === 'C' && { composite: true }),
    ...(trigrams !== null && traits.aggregates.max === 'String' && { trigrams }),
    ...(type.oddlyOrdered && { oddlyOrdered: true }),
    ...(type.unordered && { unordered: true }),
    ...(type.delimiter !== ',' && { delimiter: type.delimiter }),
  };
}

/** Undefined for what is no range, or has bounds of other kinds than scalars and plain enums. Bounds that are enums, domains or JSON are Opaque. */
function rangeOf(context: BuildContext, { boundId, kind }: CatalogType): RangeType | undefined {
  const bound = boundId === 0 ? undefined : valueTypeOf(context, boundId);
  if (bound?.kind === 'scalar') {
    const isPlain = bound.domain === undefined && bound.scalar !== 'JSON';
    return { bound, scalar: isPlain ? bound.scalar : 'Opaque', isMulti: kind === 'm' };
  }
  return bound?.kind === 'enum' && !bound.enum.mapped ? { bound, scalar: 'Opaque', isMulti: kind === 'm' } : undefined;
}

/** A type may have the name of one of PostGIS without being it, and the role may be unable to call PostGIS. */
function ownTraits(context: BuildContext, type: CatalogType): PostgresType {
  const traits = postgresType(type);
  const isPlain = traits.geometry === null || (type.schemaId === context.catalog.postgisSchemaId && isNameable(context, type));
  return isPlain ? traits : otherTypes;
}

function typeTraitsIn(additions: Additions, traits: PostgresType): PostgresType {
  return traits.plain === null || additions.has(traits.plain.addition) ? traits : traits.plain.traits;
}

/** The type as a table with these additions has it. */
function narrowType(type: ValueType, additions: Additions): ValueType {
  if (type.kind === 'list') {
    const element = narrowType(type.element, additions);
    return element === type.element || (element.kind !== 'scalar' && element.kind !== 'enum') ? type : { ...type, element };
  }
  if (type.kind !== 'scalar' || type.traits.plain === null || additions.has(type.traits.plain.addition)) return type;
  const { domain } = type;
  const base = domain && narrowType(domain.base, additions);
  const isNarrowed = base?.kind === 'scalar';
  return {
    ...type,
    traits: typeTraitsIn(additions, type.traits),
    ...(domain && isNarrowed && { domain: { ...domain, base } }),
  };
}

/** The schema of the operators of pg_trgm as SQL; null if the role cannot use them, or the addition is off. */
export function trigramsOf({ catalog: { trigrams }, privileges, settings }: BuildContext): string | null {
  return trigrams !== null && settings.additions.has('search') && privileges.schemas.has(trigrams.schemaId) ? trigrams.schema : null;
}

/** The base type of a domain, if it is in a schema that the role surely may use: pg_catalog, or the domain's. */
function writtenTypeOf(context: BuildContext, type: CatalogType): string | null {
  const { sql, baseSql } = type;
  if (baseSql === null || baseSql.startsWith('pg_catalog.')) return baseSql;
  const end = sql.lastIndexOf('.') + 1;
  return end > 0 && baseSql.startsWith(sql.slice(0, end)) && isNameable(context, type) ? baseSql : null;
}

/** Composite types are objects in JSON. A user-defined type, or a domain over one, may have a cast to json, which `to_json` uses. */
function nestsInJson({ kind, schema, category }: CatalogType): boolean {
  return category === 'C' || (category === 'U' && (kind === 'd' || schema !== 'pg_catalog'));
}

function unsupported(context: BuildContext, type: CatalogType): CompositeType | UnsupportedType {
  return { kind: type.kind === 'c' ? 'composite' : 'unsupported', sqlType: type.sql, ...nameability(context, type) };
}
