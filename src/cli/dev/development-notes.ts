/**
 * What `rowgraph dev` tells newcomers about the API: what is missing from it or open to anybody, what comment directives decide, and what to ask
 * it first.
 */
import { readdir, readFile } from 'node:fs/promises';
import type { Finding, FindingCode, Rowgraph } from '../../index.ts';
import { type Directive, readDirective, readEnabled, readMaximum } from '../../model/directives.ts';
import { literal, render } from '../../sql/sql.ts';
import type { DatabaseReader } from './development-database.ts';

interface AccessSettings {
  readonly schemas: readonly string[];
  readonly anonRole: string;
  /** Whether it is a database of the user's own, and not an embedded one, which grants everything. */
  readonly isOwn?: boolean;
}

/** Tables, views and foreign tables of the schemas on which none of the roles has any privilege, as names in SQL. */
const closedTablesText = `select quote_ident(n.nspname) || '.' || quote_ident(c.relname) as name
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = any ($1) and c.relkind in ('r', 'p', 'v', 'm', 'f') and not c.relispartition
    and not exists (select from pg_depend where classid = 'pg_class'::regclass and objid = c.oid and deptype = 'e')
    and not exists (
      select from pg_roles r where r.rolname = any ($2) and has_schema_privilege(r.oid, n.oid, 'usage')
        and (has_any_column_privilege(r.oid, c.oid, 'select, insert, update') or has_table_privilege(r.oid, c.oid, 'delete'))
    )
  order by array_position($1, n.nspname::text), c.oid`;

/** Tables of the schemas whose rows the anonymous role may write and no policy guards, as names in SQL. */
const openTablesText = `select quote_ident(n.nspname) || '.' || quote_ident(c.relname) as name
  from pg_class c join pg_namespace n on n.oid = c.relnamespace, pg_roles r
  where n.nspname = any ($1) and r.rolname = $2 and c.relkind in ('r', 'p') and not c.relispartition and not c.relrowsecurity
    and not exists (select from pg_depend where classid = 'pg_class'::regclass and objid = c.oid and deptype = 'e')
    and has_schema_privilege(r.oid, n.oid, 'usage')
    and (has_any_column_privilege(r.oid, c.oid, 'insert, update') or has_table_privilege(r.oid, c.oid, 'delete'))
  order by array_position($1, n.nspname::text), c.oid`;

/** Tables of the schemas that one of the roles may use, and of which policies show it nothing, because there are none; as names in SQL. */
const unreadableTablesText = `select quote_ident(n.nspname) || '.' || quote_ident(c.relname) as name
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = any ($1) and c.relkind in ('r', 'p') and not c.relispartition and c.relrowsecurity
    and not exists (select from pg_policy where polrelid = c.oid)
    and exists (
      select from pg_roles r where r.rolname = any ($2) and not (r.rolsuper or r.rolbypassrls or c.relowner = r.oid)
        and has_schema_privilege(r.oid, n.oid, 'usage') and has_any_column_privilege(r.oid, c.oid, 'select')
    )
  order by array_position($1, n.nspname::text), c.oid`;

/** Reasons why a table or a function is not in the API. */
const exclusions: ReadonlySet<FindingCode> = new Set([
  'missing-schema',
  'not-granted',
  'no-key',
  'no-columns',
  'illegal-name',
  'unsupported-type',
]);

/** How many names are listed; the rest is only counted. */
const maxNamed = 8;

export class AccessNotes {
  readonly #reader: DatabaseReader;
  readonly #settings: AccessSettings;
  /** The roles of clients that exist. */
  #roles: readonly string[] = [];
  /** Closed tables that have been reported; null before the first report. */
  #closed: ReadonlySet<string> | null = null;

  constructor(reader: DatabaseReader, settings: AccessSettings) {
    this.#reader = reader;
    this.#settings = settings;
  }

  /** The current notes; none if the API is as expected. */
  async describe(graph: Rowgraph): Promise<string[]> {
    const closed = await this.#findClosed();
    this.#closed = new Set(closed);
    const emptiness = await describeEmptiness(graph, this.#settings);
    return emptiness.length > 0 ? emptiness : describeClosed(closed, this.#roles);
  }

  /** Which tables anybody may write, because the role has every privilege by default; none of an example, which is meant to be so. */
  async describeOpen(): Promise<string[]> {
    const { schemas, anonRole, isOwn = false } = this.#settings;
    const { rows } = await this.#reader.query<{ name: string }>(openTablesText, [schemas, anonRole]);
    if (rows.length === 0) return [];
    const [subject, object] = rows.length === 1 ? [`${rows[0]!.name} is`, 'its rows'] : [`${rows.length} tables are`, 'their rows'];
    const reason = isOwn ? 'That is granted;' : '"dev" grants everything;';
    const more = rows.length > maxNamed ? [`  … ("rowgraph doctor" names them all)`] : [];
    return [
      `${subject} open: anybody with the ${anonRole} key may change ${object}. ${reason} row level security restricts it:`,
      ...rows.slice(0, maxNamed).map(({ name }) => `  alter table ${name} enable row level security;`),
      ...more,
    ];
  }

  /** Which tables show nobody a row, because they have row level security and no policy. */
  async describeUnreadable(): Promise<string[]> {
    const { schemas, anonRole } = this.#settings;
    const { rows } = await this.#reader.query<{ name: string }>(unreadableTablesText, [schemas, [anonRole, 'authenticated']]);
    if (rows.length === 0) return [];
    const [subject, verb] = rows.length === 1 ? [rows[0]!.name, 'has'] : [`${rows.length} tables`, 'have'];
    const more = rows.length > maxNamed ? [`  … ("rowgraph doctor" names them all)`] : [];
    return [
      `${subject} ${verb} row level security and no policy, so ${anonRole} and authenticated see no rows. A policy that shows them, such as:`,
      ...rows.slice(0, maxNamed).map(({ name }) => `  create policy readable on ${name} for select using (true);`),
      ...more,
    ];
  }

  /** The notes after a schema change: only about newly closed tables. */
  async describeChange(): Promise<string[]> {
    if (this.#closed === null) return [];
    const closed = await this.#findClosed();
    const known = this.#closed;
    this.#closed = new Set(closed);
    const added = closed.filter((table) => !known.has(table));
    return describeClosed(added, this.#roles);
  }

  async #findClosed(): Promise<string[]> {
    const clientRoles = [this.#settings.anonRole, 'authenticated'];
    const existing = await this.#reader.query<{ name: string }>('select rolname as name from pg_roles where rolname = any ($1)', [
      clientRoles,
    ]);
    const names = new Set(existing.rows.map(({ name }) => name));
    this.#roles = clientRoles.filter((role) => names.has(role));
    const { rows } = await this.#reader.query<{ name: string }>(closedTablesText, [this.#settings.schemas, this.#roles]);
    return rows.map(({ name }) => name);
  }
}

function describeClosed(tables: readonly string[], roles: readonly string[]): string[] {
  if (tables.length === 0) return [];
  const [subject, object] = tables.length === 1 ? [`${tables[0]} is`, 'it'] : [`${tables.length} tables are`, 'them'];
  const more = tables.length > maxNamed ? ` -- and ${tables.length - maxNamed} more` : '';
  return [
    `${subject} missing from the API because ${roles.length === 1 ? `${roles[0]} has no` : `neither ${roles.join(' nor ')} has any`} privilege on ${object}. To let them read:`,
    `  grant select on ${tables.slice(0, maxNamed).join(', ')} to ${roles.join(', ')};${more}`,
  ];
}

/** Why the API of the anonymous role is empty, and which commands to run; none if it is not empty, or introspection is off. */
async function describeEmptiness(graph: Rowgraph, { schemas, anonRole: role, isOwn = false }: AccessSettings): Promise<string[]> {
  const { data } = await graph.execute({ query: '{ __schema { queryType { fields { name } } mutationType { name } } }' }, { role });
  const root = data?.__schema as { queryType: { fields: readonly unknown[] }; mutationType: object | null } | undefined;
  // Every schema has the field `node`.
  if (root === undefined || root.queryType.fields.length > 1 || root.mutationType !== null) return [];
  const { findings } = await graph.doctor({ role });
  const reasons = findings.filter(({ code }) => exclusions.has(code)).flatMap(describeReason);
  if (reasons.length > 0) return [`The API is empty for ${role}:`, ...reasons];
  const where = schemas.length === 1 ? `the schema ${schemas[0]}` : `the schemas ${schemas.join(', ')}`;
  const advice = `create some with psql, ${isOwn ? '' : 'load a file with --sql, '}or expose another schema with --schemas`;
  return [`The API is empty because there are no tables or functions in ${where}: ${advice}.`];
}

function describeReason({ object, name, message, remedy }: Finding, position: number): string[] {
  if (position >= maxNamed) return position === maxNamed ? ['  … ("rowgraph doctor" names them all)'] : [];
  return [`  ${object} ${name}: ${message}`, ...(remedy === null ? [] : [`    ${remedy}`])];
}

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

const exampleQuery = '{ speciesCollection(first: 3, orderBy: [{name: AscNullsLast}]) { edges { node { name scientificName } } } }';
const nothingQuery = '{ __typename }';

/** The example's query if the example is loaded, otherwise one of the first collection that the role sees. */
export async function chooseSampleQuery(graph: Rowgraph, role: string): Promise<string> {
  const works = async (query: string): Promise<boolean> => (await graph.execute({ query }, { role })).errors === undefined;
  if (await works(exampleQuery)) return exampleQuery;
  const query = await collectionQuery(graph, role);
  return (await works(query)) ? query : nothingQuery;
}

interface TypeReference {
  readonly kind: string;
  readonly name: string | null;
  readonly ofType: TypeReference | null;
}

interface IntrospectedType {
  readonly name: string;
  readonly fields: readonly { readonly name: string; readonly type: TypeReference }[] | null;
}

const introspection = `{ __schema { queryType { name } types { name fields { name type {
  kind name ofType { kind name ofType { kind name ofType { kind name } } } } } } } }`;

async function collectionQuery(graph: Rowgraph, role: string): Promise<string> {
  const { data } = await graph.execute({ query: introspection }, { role });
  const schema = data?.__schema as { queryType: { name: string }; types: IntrospectedType[] } | undefined;
  const fieldsOf = (name: string | null | undefined) => schema?.types.find((type) => type.name === name)?.fields ?? [];
  const collection = fieldsOf(schema?.queryType.name).find((field) => field.name.endsWith('Collection'));
  const edge = fieldsOf(nameOf(collection?.type)).find((field) => field.name === 'edges');
  const node = fieldsOf(nameOf(edge?.type)).find((field) => field.name === 'node');
  const leaves = fieldsOf(nameOf(node?.type)).filter((field) => ['SCALAR', 'ENUM'].includes(leafOf(field.type).kind));
  const selected = leaves.filter((field) => leafOf(field.type).name !== 'ID').slice(0, 3);
  if (collection === undefined || selected.length === 0) return nothingQuery;
  return `{ ${collection.name}(first: 3) { edges { node { ${selected.map((field) => field.name).join(' ')} } } } }`;
}

function leafOf(type: TypeReference): TypeReference {
  return type.ofType === null || type.ofType === undefined ? type : leafOf(type.ofType);
}

function nameOf(type: TypeReference | undefined): string | null {
  return type === undefined ? null : leafOf(type).name;
}

const folder = new URL('../../../examples/bird-club/operations/', import.meta.url);

/** The example's operations, if each is valid for one of the roles; without the subscription if live queries are off. */
export async function readExampleOperations(graph: Rowgraph, roles: readonly string[]): Promise<readonly string[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.graphql')).sort();
  const documents = await Promise.all(names.map((name) => readFile(new URL(name, folder), 'utf8')));
  const valid: string[] = [];
  for (const document of documents) {
    if (await isValid(graph, document, roles)) valid.push(document);
    else if (!/^subscription\b/m.test(document)) return [];
  }
  return valid;
}

async function isValid(graph: Rowgraph, document: string, roles: readonly string[]): Promise<boolean> {
  for (const role of roles) if ((await graph.validate(document, { role })).length === 0) return true;
  return false;
}
