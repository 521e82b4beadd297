/**
 * Loads the catalog: runs the introspection query for the exposed schemas and gives its rows their names. Once for all roles.
 */
import type { Database } from '../database/database.ts';
import type {
  Catalog,
  CatalogArgument,
  CatalogColumn,
  CatalogForeignKey,
  CatalogFunction,
  CatalogIndex,
  CatalogSchema,
  CatalogTable,
  CatalogType,
  RelationKind,
} from './catalog.ts';
import { catalogQuery } from './catalog-query.ts';

/** Loads what PostgreSQL says about these schemas. A schema that does not exist is left out of `schemas`. */
export async function loadCatalog(database: Database, schemas: readonly string[]): Promise<Catalog> {
  const [row] = await database.query(catalogQuery, [JSON.stringify(schemas)]);
  const raw = JSON.parse(row?.[0] ?? '{}') as RawCatalog;
  const columns = groupByTable(raw.columns ?? [], toColumn);
  const indexes = groupByTable(raw.indexes ?? [], toIndex);
  return {
    setting: schemas,
    schemas: (raw.schemas ?? []).map(toSchema),
    tables: (raw.tables ?? []).map((table) => toTable(table, columns, indexes)),
    foreignKeys: (raw.foreignKeys ?? []).map(toForeignKey),
    types: new Map((raw.types ?? []).map(toType).map((type) => [type.id, type])),
    functions: (raw.functions ?? []).map(toFunction),
  };
}

/** The answer of the query; a member is null where there is nothing. Rows are arrays, named by the functions below. */
interface RawCatalog {
  readonly schemas?: readonly RawSchema[] | null;
  readonly tables?: readonly RawTable[] | null;
  readonly columns?: readonly RawColumn[] | null;
  readonly indexes?: readonly RawIndex[] | null;
  readonly foreignKeys?: readonly RawForeignKey[] | null;
  readonly types?: readonly RawType[] | null;
  readonly functions?: readonly RawFunction[] | null;
}

type Comment = string | null;
type RawSchema = [id: number, name: string, comment: Comment];
type RawTable = [
  id: number,
  schemaId: number,
  name: string,
  kind: RelationKind,
  rowTypeId: number,
  rowSecurity: boolean,
  securityInvoker: boolean | null,
  writable: number,
  comment: Comment,
];
type RawColumn = [
  tableId: number,
  number: number,
  name: string,
  typeId: number,
  maxLength: number | null,
  modifiedType: string | null,
  notNull: boolean,
  automatic: boolean,
  comment: Comment,
];
type RawIndex = [tableId: number, primary: boolean, unique: boolean, keyCount: number, columns: number[]];
type RawForeignKey = [
  id: number,
  name: string,
  tableId: number,
  columns: number[],
  targetId: number,
  targetColumns: number[],
  targetName: string,
  validated: boolean,
  comment: Comment,
];
type RawType = [
  id: number,
  schemaId: number,
  schema: string,
  name: string,
  kind: CatalogType['kind'],
  category: string,
  elementId: number,
  relationId: number,
  sql: string,
  labels: string[] | null,
  comment: Comment,
];
type RawFunction = [
  id: number,
  schemaId: number,
  schema: string,
  name: string,
  kind: CatalogFunction['kind'],
  extension: boolean,
  volatile: boolean,
  securityDefiner: boolean,
  variadic: boolean,
  returnsSet: boolean,
  rows: number,
  resultTypeId: number,
  argumentTypes: number[],
  argumentNames: string[] | null,
  argumentModes: string[] | null,
  defaultCount: number,
  defaults: (string | null)[] | null,
  comment: Comment,
];

function groupByTable<Raw extends readonly [tableId: number, ...unknown[]], Row>(
  rows: readonly Raw[],
  toRow: (raw: Raw) => Row,
): Map<number, Row[]> {
  const groups = new Map<number, Row[]>();
  for (const raw of rows) {
    const group = groups.get(raw[0]);
    if (group) group.push(toRow(raw));
    else groups.set(raw[0], [toRow(raw)]);
  }
  return groups;
}

function toSchema([id, name, comment]: RawSchema): CatalogSchema {
  return { id, name, comment };
}

/** The bits of `pg_relation_is_updatable` are 1 shifted by PostgreSQL's command types: update 2, insert 3, delete 4. */
function toTable(raw: RawTable, columns: Map<number, CatalogColumn[]>, indexes: Map<number, CatalogIndex[]>): CatalogTable {
  const [id, schemaId, name, kind, rowTypeId, rowSecurity, securityInvoker, writable, comment] = raw;
  return {
    id,
    schemaId,
    name,
    kind,
    rowTypeId,
    rowSecurity,
    securityInvoker: securityInvoker === true,
    canUpdate: (writable & 4) !== 0,
    canInsert: (writable & 8) !== 0,
    canDelete: (writable & 16) !== 0,
    comment,
    columns: columns.get(id) ?? [],
    indexes: indexes.get(id) ?? [],
  };
}

function toColumn([, number, name, typeId, maxLength, modifiedType, notNull, automatic, comment]: RawColumn): CatalogColumn {
  return { number, name, typeId, maxLength, modifiedType, notNull, automatic, comment };
}

/** Columns beyond the key count are only carried (`include`); the number 0 is an expression. */
function toIndex([, primary, unique, keyCount, columns]: RawIndex): CatalogIndex {
  const keys = columns.slice(0, keyCount);
  const firstExpression = keys.indexOf(0);
  return { primary, unique, columns: firstExpression < 0 ? keys : keys.slice(0, firstExpression) };
}

function toForeignKey(raw: RawForeignKey): CatalogForeignKey {
  const [id, name, tableId, columns, targetId, targetColumns, targetName, validated, comment] = raw;
  return { id, name, tableId, columns, targetId, targetColumns, targetName, validated, comment };
}

function toType([id, schemaId, schema, name, kind, category, elementId, relationId, sql, labels, comment]: RawType): CatalogType {
  return { id, schemaId, schema, name, kind, category, elementId, relationId, sql, labels, comment };
}

function toFunction(raw: RawFunction): CatalogFunction {
  const [id, schemaId, schema, name, kind, extension, volatile, securityDefiner, variadic, returnsSet, rows, resultTypeId] = raw;
  const comment = raw[17];
  return {
    id,
    schemaId,
    schema,
    name,
    kind,
    extension,
    volatile,
    securityDefiner,
    variadic,
    returnsSet,
    rows,
    resultTypeId,
    arguments: toArguments(raw),
    comment,
  };
}

/** Names, modes and defaults are given for all arguments, types for those that are put in; the last of these have the defaults. */
function toArguments(raw: RawFunction): CatalogArgument[] {
  const [types, names, modes, defaultCount, defaults] = [raw[12], raw[13], raw[14], raw[15], raw[16]];
  const positions = modes ? modes.flatMap((mode, position) => ('ibv'.includes(mode) ? [position] : [])) : [...types.keys()];
  return types.map((typeId, index) => {
    const position = positions[index] ?? index;
    return {
      name: names?.[position] ?? '',
      typeId,
      hasDefault: index >= types.length - defaultCount,
      defaultSql: defaults?.[position] ?? null,
    };
  });
}
