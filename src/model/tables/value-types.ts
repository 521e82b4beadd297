/**
 * Maps PostgreSQL types to GraphQL types: scalars by name, enums, lists, and rows of visible tables. Types without a counterpart become
 * Opaque, but composite types and domains over arrays have no GraphQL type at all.
 */
import type { Catalog, CatalogColumn, CatalogSchema, CatalogType } from '../../catalog/catalog.ts';
import type { Privileges } from '../../catalog/privileges.ts';
import type { Additions } from '../additions.ts';
import { type BuildContext, compositeTypeIn, Excluded } from '../build-context.ts';
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

/** With the additions, a domain over a composite type is an object, as its base type is. */
function compositeDomainOf(context: BuildContext, type: CatalogType): ValueType | undefined {
  if (type.kind !== 'd' || type.category !== 'C' || !context.settings.additions.has('domains')) return undefined;
  const base = valueTypeOf(context, type.baseId);
  return base.kind === 'row' && isComposite(base) ? ofDomain(context, base, type) : undefined;
}

/** The type of a domain that has all that its base type has. */
function ofDomain<Type extends ListType | RowType | RowListType>(context: BuildContext, base: Type, type: CatalogType): Type {
  const writtenAs = writtenTypeOf(context, type);
  return { ...base, sqlType: type.sql, ...(writtenAs !== null && { writtenAs }), ...nameability(context, type) };
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
  return type !== undefined && (context.compositeIds.has(type.relationId) || (table !== undefined && context.writtenRows.has(table)));
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
  if (type.kind === 'list' && !type.ofDomain) return type.isVector === true;
  if (type.kind === 'row list' || type.kind === 'composite') return false;
  if (isComposite(type)) return context.catalog.types.get(column.typeId)?.kind === 'd';
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
  return row.kind === 'row'
    ? { kind: 'row list', table: row.table, sqlType: type.sql, ...nameability(context, type) }
    : unsupported(context, type);
}

/** With the addition, a domain over an array is a list, as its base type is. */
function arrayDomainOf(context: BuildContext, type: CatalogType): ValueType {
  const base = context.settings.additions.has('domains') ? valueTypeOf(context, type.baseId) : undefined;
  if (base?.kind === 'row list' && isComposite(base)) return ofDomain(context, base, type);
  return base?.kind === 'list' ? ofDomain(context, { ...base, ofDomain: true }, type) : unsupported(context, type);
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
export function isComposite(type: ValueType): boolean {
  return (type.kind === 'row' || type.kind === 'row list') && type.table.kind === 'composite type';
}

export function scalarOrEnumOf(context: BuildContext, type: CatalogType): ScalarType | EnumValueType {
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
export function narrowType(type: ValueType, additions: Additions): ValueType {
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

function nameability(context: BuildContext, type: CatalogType): Pick<ScalarType, 'unnameable'> {
  return isNameable(context, type) ? {} : { unnameable: true };
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

type Access = Pick<BuildContext, 'catalog' | 'privileges'>;
type SchemaName = Pick<CatalogSchema, 'id' | 'name'>;

/** Whether the role's statements can name the type. */
export function isNameable({ privileges: { schemas } }: { readonly privileges: Pick<Privileges, 'schemas'> }, type: CatalogType): boolean {
  if (type.schema === 'pg_catalog') return true;
  return schemas.has(type.schemaId) && (type.enumSchema === null || schemas.has(type.enumSchema.id));
}

export function isNamed(type: ValueType): boolean {
  return !('unnameable' in type);
}

export function namesAllTypes(catalog: Catalog, privileges: Privileges): boolean {
  for (const type of catalog.types.values()) if (!isNameable({ privileges }, type)) return false;
  return true;
}

/**
 * The schema with the operators of the type, or of the elements of an array, if the role may not use it: PostgreSQL would compare the values
 * as those of another type.
 */
export function closedOperatorSchema(
  { catalog, privileges }: Access,
  { operatorSchemaId, elementId, category, baseId }: CatalogType,
): SchemaName | undefined {
  const element = catalog.types.get(elementId || (category === 'A' ? baseId : 0));
  if (element) return closedOperatorSchema({ catalog, privileges }, element);
  if (operatorSchemaId === 0 || privileges.schemas.has(operatorSchemaId)) return undefined;
  return catalog.operatorSchemas.find(({ id }) => id === operatorSchemaId);
}

/** Whether the role may execute the functions of the operators that PostgreSQL prefers to built-in ones. */
function mayOperate({ privileges }: Pick<Access, 'privileges'>, { operatorIds }: CatalogType): boolean {
  return operatorIds.every((id) => privileges.functions.has(id));
}

/**
 * Whether values of the type can be compared with others. If the type cannot be named, PostgreSQL has to infer it, which works for types
 * that are compared by built-in operators, but not for rows and domains over enums, which have to be cast.
 */
export function isComparable(access: Access, type: CatalogType): boolean {
  if (closedOperatorSchema(access, type) || (type.elementId === 0 && !mayOperate(access, type))) return false;
  return isNameable(access, type) || (type.category !== 'C' && type.enumSql === null && !type.oddlyOrdered);
}

export function whyOutOfReach(access: Access, type: CatalogType): Excluded | undefined {
  const { role, schemas } = access.privileges;
  const comparisons = isComparable(access, type) ? '' : 'filters, orders, groups and keys';
  const closed = closedOperatorSchema(access, type);
  if (!isNameable(access, type)) {
    const schema = schemas.has(type.schemaId) ? type.enumSchema! : { id: type.schemaId, name: type.schema };
    const lost = comparisons === '' ? 'inserts and updates' : `inserts, updates, ${comparisons}`;
    return lacksUsage(
      schema,
      `the role ${role} cannot use the schema ${schema.name} of its type ${type.sql}, so it can be read but is left out of ${lost}`,
    );
  }
  if (comparisons === '') return undefined;
  if (closed) {
    const problem = `the role ${role} cannot use the schema ${closed.name}, which has the operators of its type ${type.sql}`;
    return lacksUsage(closed, `${problem}, so it is left out of ${comparisons}`);
  }
  const name = access.catalog.operatorSchemas.find(({ id }) => id === type.operatorSchemaId)?.name ?? '';
  const problem = `the role ${role} cannot execute the functions of the operators of its type ${type.sql}, so it is left out of ${comparisons}`;
  return new Excluded('type-out-of-reach', `${problem}; grant execute on all functions in schema ${name} to the role`);
}

function lacksUsage({ id, name }: SchemaName, problem: string): Excluded {
  const lacking = { privilege: 'usage', id, column: null } as const;
  return new Excluded('type-out-of-reach', `${problem}; grant usage on schema ${name} to the role`, lacking);
}
