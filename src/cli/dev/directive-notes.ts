/** What `rowgraph dev` tells newcomers about comment directives: what they decide, and which statements to try. */
import { type Directive, readDirective, readEnabled, readMaximum } from '../../model/directives.ts';
import { literal, render } from '../../sql/sql.ts';
import type { DatabaseReader } from './development-database.ts';

export interface DirectiveNotes {
  /** What the directives decide, and its current state. */
  readonly rows: readonly (readonly [subject: string, state: string])[];
  /** Whether the statements would change something, or merely repeat comments that the database already has. */
  readonly isSuggestion: boolean;
  readonly statements: readonly string[];
}

interface Commented {
  /** The object in SQL: `schema public`. */
  readonly sql: string;
  readonly comment: string | null;
}

interface Noted extends Commented {
  readonly directive: Directive;
}

const defaultMaxRows = 30;

/** Reads the comments of the schemas and of their tables and views. */
export async function readDirectiveNotes(reader: DatabaseReader, schemaNames: readonly string[]): Promise<DirectiveNotes> {
  const schemas = await readComments(reader, schemasText, schemaNames);
  const tables = await readComments(reader, tablesText, schemaNames);
  const missing = [...schemas.flatMap(suggestForSchema).slice(0, 1), ...suggestForTable(tables)];
  const present = [schemas, tables].flatMap((each) => each.filter(({ directive }) => Object.keys(directive).length > 0).slice(0, 1));
  return {
    rows: [
      ['names', describeNames(schemas)],
      ['page size', describePages(schemas)],
      ['totalCount', describeSwitch(tables, 'totalCount')],
      ['aggregate', describeSwitch(tables, 'aggregate')],
    ],
    isSuggestion: missing.length > 0,
    statements: missing.length > 0 ? missing : present.map(({ sql, comment }) => commentStatement(sql, comment ?? '')),
  };
}

const schemasText = `select 'schema ' || quote_ident(nspname) as sql, obj_description(oid, 'pg_namespace') as comment
  from pg_namespace where nspname = any ($1) order by array_position($1, nspname::text)`;

const tablesText = `select kind || ' ' || c.oid::regclass as sql, obj_description(c.oid, 'pg_class') as comment
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  join (values ('r', 'table'), ('p', 'table'), ('v', 'view'), ('m', 'materialized view'), ('f', 'foreign table')) kinds (code, kind)
    on code = c.relkind::text
  where n.nspname = any ($1) and not c.relispartition
    and not exists (select from pg_depend where classid = 'pg_class'::regclass and objid = c.oid and deptype = 'e')
  order by array_position($1, n.nspname::text), c.oid`;

async function readComments(reader: DatabaseReader, text: string, schemaNames: readonly string[]): Promise<Noted[]> {
  const { rows } = await reader.query<Commented>(text, [schemaNames]);
  return rows.map((row) => ({ ...row, directive: readDirective(row.comment) }));
}

function isInflected({ directive }: Noted): boolean {
  return directive.inflect_names === true;
}

function describeNames(schemas: readonly Noted[]): string {
  if (!schemas.some(isInflected)) return 'as in the database: account_holder does not become AccountHolder';
  if (schemas.every(isInflected)) return 'inflected: account_holder becomes AccountHolder';
  return `inflected in ${listOf(schemas.filter(isInflected))}, as in the database in ${listOf(schemas.filter((schema) => !isInflected(schema)))}`;
}

function describePages(schemas: readonly Noted[]): string {
  const sizes = new Set(schemas.map(({ directive }) => readMaximum(directive, 'max_rows') ?? defaultMaxRows));
  const texts = [...sizes].sort((one, other) => one - other).map((size) => `${size} ${size === 1 ? 'row' : 'rows'}`);
  return `${texts.join(' or ')} at most, even with first: 1000`;
}

function describeSwitch(tables: readonly Noted[], name: 'totalCount' | 'aggregate'): string {
  const count = tables.filter(({ directive }) => readEnabled(directive, name)).length;
  const all = `${tables.length} ${tables.length === 1 ? 'table' : 'tables'}`;
  return count === 0 ? 'off, until enabled for a table' : `on for ${count} of ${all}`;
}

function listOf(schemas: readonly Noted[]): string {
  return schemas.map(({ sql }) => sql.replace(/^schema /, '')).join(', ');
}

/** A comment replaces the previous one, so only objects without one get a suggestion. */
function suggestForSchema({ sql, comment }: Noted): string[] {
  if (comment !== null && comment !== 'standard public schema') return [];
  return [commentStatement(sql, '@graphql({"inflect_names": true, "max_rows": 100})')];
}

function suggestForTable(tables: readonly Noted[]): string[] {
  const isOn = tables.some(({ directive }) => readEnabled(directive, 'totalCount') || readEnabled(directive, 'aggregate'));
  const table = tables.find(({ comment }) => comment === null);
  if (isOn || !table) return [];
  return [commentStatement(table.sql, '@graphql({"totalCount": {"enabled": true}, "aggregate": {"enabled": true}})')];
}

function commentStatement(sql: string, comment: string): string {
  return `comment on ${sql} is ${render(literal(comment)).text};`;
}
