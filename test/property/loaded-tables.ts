/**
 * The rows of all tables as a role sees them, read by one plain select a table, with the names that GraphQL gives to tables, columns and
 * relations.
 */

import type { Column, Model, Table } from '../../src/model/model.ts';
import { type TypeSuffix, tableTypeName, typeSuffixes } from '../../src/model/naming/graphql-names.ts';
import type { Routine } from '../../src/model/routine.ts';
import { type CaseContext, readValue } from './case-context.ts';
import { type LoadedValue, loadedValues, type NamedTypes, type Part, partOf, type RawValue, rowJson } from './loaded-values.ts';
import { namedComposites } from './named-composites.ts';
import { RefusalError } from './property-failure.ts';
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
import { constantRows, quoteIdentifier, quoteLiteral } from './schema-sql.ts';

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
  /** The computed fields that take arguments. */
  readonly called: ReadonlyMap<string, LoadedRoutine>;
  /** PostgreSQL's number of rows; null where it keeps none that the role may know. */
  readonly estimate: number | null;
  /** Null where the role may not read them after all. */
  readonly rows: readonly LoadedRow[] | null;
}

export interface LoadedRoutine {
  readonly description: RoutineDescription;
  readonly maxRows: number;
  /** Of a function that returns several columns, their names. */
  readonly columns: readonly Column[];
  /** Those of a function that always has the same. */
  readonly rows: readonly (readonly LoadedValue[])[];
}

/** The tables at one moment. */
export interface World extends NamedTypes {
  readonly tables: readonly LoadedTable[];
  /** What the root fields of functions call. */
  readonly routines: ReadonlyMap<string, LoadedRoutine>;
  /** The same of Mutation. */
  readonly writers: ReadonlyMap<string, LoadedRoutine>;
  readonly role: string;
  /** What values of json and jsonb are in responses. */
  readonly json: 'string' | 'object';
  readonly foreignKeys: readonly ForeignKeyDescription[];
  /** The tables before a delete, of which this is the world after. */
  before?: World;
}

/** Loads the rows of every table of the model. To be called as the role, in a transaction. */
export async function loadWorld(context: CaseContext, model: Model): Promise<World> {
  const { schema } = context;
  const tables: LoadedTable[] = [];
  const types = {
    enums: new Set(model.enums.map(({ name }) => name)),
    composites: namedComposites(schema, model),
    hasRowDomains: model.tables.some(({ additions }) => additions.has('composites') && additions.has('domains')),
  };
  const constants = await readConstants(context);
  const world = {
    tables,
    ...types,
    routines: loadedRoutines(
      schema,
      model.routines.filter((each) => !describedRoutine(schema, each).isVolatile),
      types,
      constants,
    ),
    writers: loadedRoutines(
      schema,
      model.routines.filter((each) => describedRoutine(schema, each).isVolatile),
      types,
      constants,
    ),
    role: model.role,
    json: context.json,
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
    const called = loadedRoutines(
      schema,
      names.computed.filter((each) => each.arguments.length > 0),
      types,
      constants,
    );
    const table = { ...describeTable(schema, model, names), called, world, estimate, rows: contents[index] ? rows : null };
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

function computedColumns(schema: SchemaDescription, { computed }: Table): Map<string, string> {
  const shown = computed.map((routine) => [routine.fieldName, describedRoutine(schema, routine)] as const);
  return new Map(
    shown.flatMap(([field, { body, arguments: given }]) => ('column' in body && given.length === 0 ? [[field, body.column]] : [])),
  );
}

/** Functions of one name have different arguments. */
function describedRoutine({ routines }: SchemaDescription, { name, arguments: given }: Routine): RoutineDescription {
  return routines.find(
    (each) => each.name === name && given.every((argument) => each.arguments.some((own) => own.name === argument.name)),
  )!;
}

function loadedRoutines(
  schema: SchemaDescription,
  routines: readonly Routine[],
  types: NamedTypes,
  constants: Constants,
): Map<string, LoadedRoutine> {
  return new Map(
    routines.map((routine) => {
      const description = describedRoutine(schema, routine);
      const { body, directive } = description;
      const columns = 'table' in routine.result ? routine.result.table.columns : [];
      const rows =
        body.kind === 'constants'
          ? (constants.get(description) ?? []).map((row) => [...loadedValues(types, body.columns, row).values()])
          : [];
      const maxRows = Number(directive?.max_rows ?? schema.directive.max_rows ?? 30);
      return [routine.fieldName, { description, maxRows, columns, rows }];
    }),
  );
}

type Constants = ReadonlyMap<RoutineDescription, RawTable>;

async function readConstants(context: CaseContext): Promise<Constants> {
  const constants = new Map<RoutineDescription, RawTable>();
  for (const routine of context.schema.routines) {
    const { body } = routine;
    if (body.kind !== 'constants') continue;
    const row = rowJson(body.columns.map(({ type }, index) => ({ name: `c${index}`, type })));
    const [rows] = (await readUnlessDenied(context, [`(select json_agg(${row} order by n) from ${constantRows(body)})`])) ?? [];
    constants.set(routine, rows ?? null);
  }
  return constants;
}

function describeTable(schema: SchemaDescription, model: Model, names: Table): Omit<LoadedTable, 'world' | 'called' | 'estimate' | 'rows'> {
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
  const vectors = describedTable(schema, names).columns.flatMap(({ name, type }) => (type.sql === 'tsvector' ? [name] : []));
  const isGrantedTo = (name: string) => isGranted(describedTable(schema, names), model.role, 'select', name);
  const granted = [...searched, ...vectors].filter(isGrantedTo);
  const computed = names.computed.flatMap((routine) => {
    const { body } = describedRoutine(schema, routine);
    return 'column' in body ? [body.column] : [];
  });
  const needed = new Set([...named, ...near, ...far, ...granted, ...computed]);
  return describedTable(schema, names).columns.filter(({ name }) => needed.has(name));
}

function describedTable(schema: SchemaDescription, names: Table): TableDescription {
  const description = schema.tables.find(({ name }) => name === names.name);
  if (!description) throw new Error(`The model has a table ${names.name} that was not made.`);
  return description;
}

/** The rows of a query whose one column is the text of `rowJson`. */
export async function readRows({ database }: CaseContext, query: string): Promise<RawValue[][]> {
  return (await database.run(query)).map(([text]) => JSON.parse(text as string) as RawValue[]);
}

/** The row of values that `rowJson` of the table's readable columns yields. */
export function loadedRow(table: LoadedTable, values: readonly RawValue[]): LoadedRow {
  return { table, values: loadedValues(table.world, table.readable, values) };
}

/** A value of a row. Throws `RefusalError` where the role may not read it. */
export function valueOf(row: LoadedRow, column: string): LoadedValue {
  const value = row.values.get(column);
  if (!value) throw new RefusalError(`${row.table.description.name}.${column}`);
  return value;
}

/** What fields, filters and orders of a column are about. */
export function partOfColumn({ world, description }: LoadedTable, column: Column): Part {
  return partOf(world, column, columnOf(description, column.name));
}

/** The value of a row that a part is. Throws `RefusalError` where the role may not read it. */
export function valueOfPart(row: LoadedRow, part: Part): LoadedValue {
  const value = part.in(row.values);
  if (!value) throw new RefusalError(`${row.table.description.name}.${part.name}`);
  return value;
}

/** Whether PostgreSQL may refuse a request, or a part of it that need not be read, where the evaluator does not know which. */
export function mayBeRefused(world: World, query: string): boolean {
  const locked = [...world.routines]
    .filter(
      ([
        ,
        {
          description: { body },
        },
      ]) => body.kind === 'all rows' && !maySelectAll(world.role, body.table),
    )
    .map(([field]) => field);
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
