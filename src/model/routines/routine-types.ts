/** The types that functions may take and return. */
import type { CatalogFunction, CatalogTable, CatalogType } from '../../catalog/catalog.ts';
import { type Additions, noAdditions } from '../additions.ts';
import { type BuildContext, Excluded, notGranted, reachableTable, resultId } from '../build-context.ts';
import { defaultMaxRows, readDirective, readMaximum } from '../directives.ts';
import type { Table } from '../model.ts';
import { qualifiedName } from '../naming/names.ts';
import type { RoutineResult } from '../routine.ts';
import type { LazyTable } from '../tables/lazy-table.ts';
import { isAddedObject, typeWith, valueTypeOf } from '../tables/value-types.ts';
import { postgresType } from '../types/postgres-types.ts';
import type { ValueType } from '../value-type.ts';

/**
 * The result type of a function's field, or why it cannot be one. Computed fields may also return a row of a table without a key, or an
 * array of rows.
 */
export function resultTypeOf(
  context: BuildContext,
  catalogFunction: CatalogFunction,
  { isComputed = false } = {},
): RoutineResult | Excluded {
  const { resultTypeId, returnsSet } = catalogFunction;
  const type = context.catalog.types.get(resultTypeId);
  const additions = additionsOf(context, catalogFunction);
  const columns = additions.has('composites') ? context.composites.get(resultId(catalogFunction)) : undefined;
  if (columns) return compositeResult(context, catalogFunction, columns);
  if (type?.kind === 'p') {
    const { pseudo } = postgresType(type);
    if (pseudo?.kind === 'nothing') return { kind: 'void' };
    if (pseudo?.kind === 'trigger') return new Excluded('not-callable', 'it is a trigger function; only triggers can call it');
    if (pseudo === null) return unsupported(`it returns ${type.name}; return a scalar, or rows of a table in the API`);
  }
  const value = typeWith(context, additions, resultTypeId, valueTypeOf(context, resultTypeId));
  const keyless = isComputed && type?.kind === 'c' && !isSetOfRows(catalogFunction) ? context.tables.get(type.relationId) : undefined;
  if (keyless) return { kind: 'row', table: keyless, setOf: returnsSet };
  if (value.kind === 'row' && isAddedObject(value)) return compositeResult(context, catalogFunction, value.table);
  if (value.kind === 'row') {
    return isSetOfRows(catalogFunction) ? { kind: 'rows', table: value.table } : { kind: 'row', table: value.table, setOf: returnsSet };
  }
  if (value.kind === 'row list' && (isComputed || isAddedObject(value)) && !returnsSet) return { kind: 'row list', table: value.table };
  if (value.kind === 'row list' || value.kind === 'composite' || value.kind === 'unsupported') return whyNoResult(context, type);
  if (returnsSet && additions.has('moreFunctions') && !(value.kind === 'scalar' && value.composite))
    return { kind: 'value set', type: value, maxRows: maxRowsOf(context, catalogFunction) };
  if (returnsSet) return unsupported('it returns a set of values; return an array, or rows of a table in the API');
  return { kind: 'value', type: value };
}

/** A value of a composite type, or of several columns. */
function compositeResult(context: BuildContext, catalogFunction: CatalogFunction, table: Table): RoutineResult {
  if (isSetOfRows(catalogFunction)) return { kind: 'row set', table, maxRows: maxRowsOf(context, catalogFunction) };
  return { kind: 'row', table, setOf: catalogFunction.returnsSet };
}

/** None for the functions of extensions: nobody wrote them for the API, and some of them tell about the server (`pg_stat_statements`). */
export function additionsOf({ schemas, settings }: BuildContext, { schemaId, extension }: CatalogFunction): Additions {
  return extension ? noAdditions : (schemas.get(schemaId)?.additions ?? settings.additions);
}

/** The longest page of a set that is no collection. */
function maxRowsOf({ schemas }: BuildContext, { schemaId, comment }: CatalogFunction): number {
  return readMaximum(readDirective(comment), 'max_rows') ?? schemas.get(schemaId)?.maxRows ?? defaultMaxRows;
}

function whyNoResult(context: BuildContext, type: CatalogType | undefined): Excluded {
  const table = reachableTable(context, type?.relationId ?? 0);
  if (table) {
    const name = qualifiedName(context.schemas.get(table.schemaId)?.name ?? '', table.name);
    return new Excluded('owner-left-out', `it returns rows of ${name}, which is not in the API; see the finding for that table`);
  }
  return unsupported(`it returns ${type?.sql ?? 'a type'}, which has no GraphQL type; return a scalar, or rows of a table in the API`);
}

function unsupported(reason: string): Excluded {
  return new Excluded('unsupported-type', reason);
}

/** Whether arguments can have the type: those of `isPlainType`, composite types, rows of tables, and arrays of these. */
export function isInputType(context: BuildContext, typeId: number, type: ValueType, additions: Additions): boolean {
  if (isPlainType(context, typeId)) return true;
  const isObject = additions.has('composites') && (type.kind === 'row' || type.kind === 'row list');
  return isObject && (isAddedObject(type) || (type.table.composite?.inputName ?? null) !== null);
}

/** Whether arguments and results of root fields can have the type: scalars, arrays of them, and with the additions enums and all domains. */
export function isPlainType(context: BuildContext, typeId: number): boolean {
  const { catalog, settings } = context;
  const type = catalog.types.get(typeId);
  if (!type) return false;
  if (type.kind === 'p') return postgresType(type).pseudo?.kind === 'any';
  const isOfAnother = type.kind === 'd' && (type.category === 'A' || type.category === 'E');
  if (isOfAnother && settings.additions.has('domains')) return isPlainType(context, type.baseId);
  const of = type.elementId === 0 ? type : catalog.types.get(type.elementId);
  if (of?.category === 'E' && settings.additions.has('enums')) return of.kind === 'd' || context.enums.has(of.id);
  const element = type.category === 'A' ? catalog.types.get(type.elementId) : type;
  return element !== undefined && element.category !== 'E' && element.category !== 'A' && element.kind !== 'c';
}

/** The table, visible or not, whose row is the function's only argument, or with the addition its first one; otherwise undefined. */
export function rowTableOf(context: BuildContext, catalogFunction: CatalogFunction): CatalogTable | undefined {
  const [row, ...others] = catalogFunction.arguments;
  if (others.length > 0 && !additionsOf(context, catalogFunction).has('moreFunctions')) return undefined;
  const type = row ? context.catalog.types.get(row.typeId) : undefined;
  return type && reachableTable(context, type.relationId);
}

export function computedOwner(context: BuildContext, catalogFunction: CatalogFunction): LazyTable | undefined {
  const table = catalogFunction.kind === 'f' ? rowTableOf(context, catalogFunction) : undefined;
  return table && context.tables.get(table.id);
}

/** Whether the function returns a collection. A set declared `rows 1` counts as a single row. */
export function isSetOfRows({ returnsSet, rows }: CatalogFunction): boolean {
  return returnsSet && rows !== 1;
}

export function whyForbidden(
  { privileges }: BuildContext,
  table: CatalogTable,
  { id, schemaId, schema, ambiguous }: CatalogFunction,
): Excluded | undefined {
  if (ambiguous) {
    const reason =
      'PostgreSQL cannot tell its calls from those of a function with the same name and row, whose other arguments have defaults';
    return new Excluded('not-callable', `${reason}; rename one of them`);
  }
  const { role, functions, schemas, tables } = privileges;
  if (!schemas.has(schemaId)) {
    return notGranted(`the role ${role} cannot use its schema; grant usage on schema ${schema} to the role`, 'usage', schemaId);
  }
  if (!functions.has(id)) return notGranted(`the role ${role} cannot execute it; grant execute on it to the role`, 'execute', id);
  if (tables.get(table.id)?.select) return undefined;
  return notGranted(
    `it reads whole rows, which the role ${role} cannot select; grant select on the whole table to the role`,
    'select',
    table.id,
  );
}
