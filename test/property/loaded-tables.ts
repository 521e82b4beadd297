/**
 * The rows of all tables as a role sees them, read by one plain select a table, with the names that GraphQL gives to tables, columns and
 * relations.
 */

import type { Model, Table } from '../../src/model/model.ts';
import { type TypeSuffix, tableTypeName, typeSuffixes } from '../../src/model/naming/graphql-names.ts';
import { type CaseContext, readValue } from './case-context.ts';
import type { ColumnType } from './column-types.ts';
import {
  type ColumnDescription,
  columnOf,
  type ForeignKeyDescription,
  isGranted,
  keyColumns,
  maySelectAll,
  type RoutineDescription,
  type SchemaDescription,
  type TableDescription,
} from './schema-description.ts';
import { quoteIdentifier, quoteLiteral } from './schema-sql.ts';

/** A value in the two forms that answers and identifiers are made of, and as text for comparisons. */
export interface LoadedValue {
  readonly text: string | null;
  /** As a response shows it. */
  readonly json: unknown;
  /** JSON text as jsonb writes it. */
  readonly jsonb: string;
}

export interface LoadedRow {
  readonly table: LoadedTable;
  /** By column; of those that the role may select. */
  readonly values: ReadonlyMap<string, LoadedValue>;
}

export interface LoadedTable {
  readonly world: World;
  readonly description: TableDescription;
  /** For names only. */
  readonly names: Table;
  readonly schemaName: string;
  readonly maxRows: number;
  /** The columns that the role may select, as far as the API needs them. */
  readonly readable: readonly ColumnDescription[];
  /** The columns that computed fields show, by field. */
  readonly computed: ReadonlyMap<string, string>;
  /** PostgreSQL's number of rows; null where it keeps none that the role may know. */
  readonly estimate: number | null;
  /** Null where the role may not read them after all. */
  readonly rows: readonly LoadedRow[] | null;
}

/** The tables at one moment. */
export interface World {
  readonly tables: readonly LoadedTable[];
  /** The enums that have a type, by their names in PostgreSQL. The values of others are Opaque. */
  readonly enums: ReadonlySet<string>;
  /** The root fields of functions, by what they call. */
  readonly routines: ReadonlyMap<string, RoutineDescription>;
  readonly role: string;
  readonly foreignKeys: readonly ForeignKeyDescription[];
  /** The tables before a delete, of which this is the world after. */
  before?: World;
}

/** The operation has to be refused, in whatever words; mostly because the role lacks a privilege. */
export class RefusalError extends Error {}

/** Loads the rows of every table of the model. To be called as the role, in a transaction. */
export async function loadWorld(context: CaseContext, model: Model): Promise<World> {
  const { schema } = context;
  const tables: LoadedTable[] = [];
  const world = {
    tables,
    enums: new Set(model.enums.map(({ name }) => name)),
    routines: rootRoutines(schema, model),
    role: model.role,
    foreignKeys: schema.foreignKeys,
  };
  const readable = model.tables.filter(({ selectable }) => selectable);
  const queries = readable.map((names) => {
    const rows = `select ${rowJson(readableColumns(schema, model, names))} as row from ${quoteIdentifier(schema.name, names.name)}`;
    return `(select coalesce(pg_catalog.json_agg(row), '[]') from (${rows}) as rows)`;
  });
  const contents = await readTables(context, queries);
  const estimates = await readEstimates(context);
  for (const [index, names] of readable.entries()) {
    const rows: LoadedRow[] = [];
    const estimate = estimates.get(names.name) ?? null;
    const table = { ...describeTable(schema, model, names), world, estimate, rows: contents[index] ? rows : null };
    for (const values of contents[index] ?? []) rows.push(loadedRow(table, values));
    tables.push(table);
  }
  return world;
}

/** Of tables that no policy restricts, by name. */
async function readEstimates({ database, schema }: CaseContext): Promise<ReadonlyMap<string, number>> {
  const text = await readValue(
    database,
    `select json_agg(json_build_array(relname, reltuples))::text from pg_catalog.pg_class
     where relnamespace = (select oid from pg_catalog.pg_namespace where nspname = ${quoteLiteral(schema.name)})
       and relkind in ('r', 'm') and not relhassubclass and reltuples >= 0 and not row_security_active(oid)`,
  );
  return new Map(JSON.parse(text ?? '[]') as [string, number][]);
}

type RawTable = readonly RawValue[][] | null;

/** The rows of all tables at once; where a privilege is lacking, of each alone. */
async function readTables(context: CaseContext, queries: readonly string[]): Promise<readonly RawTable[]> {
  const all = await readUnlessDenied(context, queries);
  if (all || queries.length < 2) return all ?? [null];
  const each: RawTable[] = [];
  for (const query of queries) each.push((await readUnlessDenied(context, [query]))?.[0] ?? null);
  return each;
}

async function readUnlessDenied({ database }: CaseContext, queries: readonly string[]): Promise<readonly RawTable[] | null> {
  try {
    const text = await readValue(database, `savepoint load; select json_build_array(${queries.join(', ')})::text`);
    return JSON.parse(text ?? '[]') as RawTable[];
  } catch (error) {
    await database.run('rollback to savepoint load');
    if (!String(error).includes('permission denied')) throw error;
    return null;
  }
}

function computedColumns({ routines }: SchemaDescription, { computed }: Table): Map<string, string> {
  return new Map(computed.map(({ fieldName, name }) => [fieldName, routines.find((routine) => routine.name === name)!.column!]));
}

function rootRoutines({ routines }: SchemaDescription, model: Model): Map<string, RoutineDescription> {
  return new Map(model.routines.map(({ fieldName, name }) => [fieldName, routines.find((routine) => routine.name === name)!]));
}

function describeTable(schema: SchemaDescription, model: Model, names: Table): Omit<LoadedTable, 'world' | 'estimate' | 'rows'> {
  const description = describedTable(schema, names);
  return {
    description,
    names,
    schemaName: schema.name,
    maxRows: Number(description.directive.max_rows ?? schema.directive.max_rows ?? 30),
    readable: readableColumns(schema, model, names),
    computed: computedColumns(schema, names),
  };
}

/** Columns without a usable name are needed too, where they belong to a key or a relation. */
function readableColumns(schema: SchemaDescription, model: Model, names: Table): ColumnDescription[] {
  const named = [...names.columns, ...names.primaryKey].filter(({ selectable }) => selectable).map(({ name }) => name);
  const near = names.relations.flatMap(({ columns }) => columns.map((pair) => pair.near));
  const far = model.tables.flatMap(({ relations }) =>
    relations.filter(({ target }) => target === names).flatMap(({ columns }) => columns.map((pair) => pair.target)),
  );
  const { columns = [] } = (describedTable(schema, names).directive.search ?? {}) as { columns?: object };
  const searched = (Array.isArray(columns) ? columns : Object.keys(columns)) as string[];
  const granted = searched.filter((name) => isGranted(describedTable(schema, names), model.role, 'select', name));
  const needed = new Set([...named, ...near, ...far, ...granted, ...computedColumns(schema, names).values()]);
  return describedTable(schema, names).columns.filter(({ name }) => needed.has(name));
}

function describedTable(schema: SchemaDescription, names: Table): TableDescription {
  const description = schema.tables.find(({ name }) => name === names.name);
  if (!description) throw new Error(`The model has a table ${names.name} that was not made.`);
  return description;
}

type RawValue = readonly [text: string | null, json: unknown, jsonb: string | null];

/** The row's values as JSON: an expression for a select list. */
export function rowJson(columns: readonly ColumnDescription[]): string {
  const values = columns.map(({ name, type }) => {
    const column = quoteIdentifier(name);
    const inJson = type.isArray && ['BigInt', 'BigFloat', 'JSON', 'enum'].includes(type.scalar) ? `${column}::text[]` : column;
    return `json_build_array(${column}::text, pg_catalog.to_json(${inJson}), pg_catalog.to_jsonb(${column})::text)`;
  });
  return `json_build_array(${values.join(', ')})`;
}

/** The rows of a query whose one column is the text of `rowJson`. */
export async function readRows({ database }: CaseContext, query: string): Promise<RawValue[][]> {
  return (await database.run(query)).map(([text]) => JSON.parse(text as string) as RawValue[]);
}

/** The row of values that `rowJson` of the table's readable columns yields. */
export function loadedRow(table: LoadedTable, values: readonly RawValue[]): LoadedRow {
  const byColumn = new Map(table.readable.map((column, index) => [column.name, loadedValue(table.world, column, values[index]!)]));
  return { table, values: byColumn };
}

function loadedValue(world: World, { type }: ColumnDescription, [text, json, jsonb]: RawValue): LoadedValue {
  return { text, json: text === null ? null : shownValue(world, type, text, json), jsonb: jsonb ?? 'null' };
}

function shownValue(world: World, type: ColumnType, text: string, json: unknown): unknown {
  const names = valueNames(world, type);
  const named = (label: unknown) => names.get(label as string) ?? label;
  if (type.isArray) return (json as unknown[]).map(named);
  if (type.enum) return named(text);
  if (['BigInt', 'BigFloat', 'UUID', 'JSON'].includes(type.scalar)) return text;
  // Minus zero is zero.
  return type.scalar === 'Float' ? Number(json) + 0 : json;
}

/** What the labels of an enum are called, where a directive says so. */
export function valueNames({ enums }: World, { enum: description }: ColumnType): ReadonlyMap<string, string> {
  if (!description || !enums.has(description.name)) return new Map();
  return new Map(Object.entries((description.directive?.mappings ?? {}) as Record<string, string>));
}

/** A value of a row. Throws `RefusalError` where the role may not read it. */
export function valueOf(row: LoadedRow, column: string): LoadedValue {
  const value = row.values.get(column);
  if (!value) throw new RefusalError(`${row.table.description.name}.${column}`);
  return value;
}

/** Whether PostgreSQL may refuse a request, or a part of it that need not be read, where the evaluator does not know which. */
export function mayBeRefused(world: World, query: string): boolean {
  const locked = [...world.routines].filter(([, { table }]) => !maySelectAll(world.role, table)).map(([field]) => field);
  return isRestricted(world) || locked.some((field) => new RegExp(`\\b${field}\\b`).test(query));
}

/** The rows of a table. Throws `RefusalError` where the role may not read them. */
export function rowsOf({ rows, description }: LoadedTable): readonly LoadedRow[] {
  if (!rows) throw new RefusalError(description.name);
  return rows;
}

/** The columns of the key, of which the role may read every one. Throws `RefusalError` otherwise. */
export function keyOf(table: LoadedTable): readonly ColumnDescription[] {
  return keyColumns(table.description).map((name) => {
    const column = columnOf(table.description, name);
    if (!table.readable.includes(column)) throw new RefusalError(`${table.description.name}.${name}`);
    return column;
  });
}

/** Base64 of a JSON array, as cursors and nodeIds are. */
export function opaqueId(elements: readonly string[]): string {
  return Buffer.from(`[${elements.join(', ')}]`).toString('base64');
}

export function nodeIdOf(row: LoadedRow): string {
  const { schemaName, description } = row.table;
  return opaqueId([
    JSON.stringify(schemaName),
    JSON.stringify(description.name),
    ...keyOf(row.table).map(({ name }) => valueOf(row, name).jsonb),
  ]);
}

/** The table that a type belongs to: that of its rows, or any other. */
export function tableOfType({ tables }: World, typeName: string): LoadedTable | undefined {
  const ofRows = tables.find(({ names }) => names.typeName === typeName);
  const suffixes = Object.keys(typeSuffixes) as TypeSuffix[];
  return ofRows ?? tables.find(({ names }) => suffixes.some((suffix) => tableTypeName(names, suffix) === typeName));
}

/** As `tableOfType`, of a type that has to belong to a table. */
export function tableByType(world: World, typeName: string): LoadedTable {
  const table = tableOfType(world, typeName);
  if (!table) throw new Error(`No table has the type ${typeName}.`);
  return table;
}

/** Whether the role may read all that it sees, keys included; if not, PostgreSQL may refuse what the evaluator can answer. */
export function isRestricted({ tables }: World): boolean {
  return tables.some(
    (table) => table.rows === null || keyColumns(table.description).some((name) => !table.readable.some((column) => column.name === name)),
  );
}
