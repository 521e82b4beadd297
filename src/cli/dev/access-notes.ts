/** What `rowgraph dev` tells newcomers about access to the API: what is missing from it, and what is open to anybody or to nobody. */
import type { Finding, FindingCode, Rowgraph } from '../../index.ts';
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
    const open = await this.#readNames(openTablesText, [schemas, anonRole]);
    if (open.length === 0) return [];
    const [subject, object] = open.length === 1 ? [`${open[0]} is`, 'its rows'] : [`${open.length} tables are`, 'their rows'];
    const reason = isOwn ? 'That is granted;' : '"dev" grants everything;';
    return [
      `${subject} open: anybody with the ${anonRole} key may change ${object}. ${reason} row level security restricts it:`,
      ...listFirst(open, (table) => [`  alter table ${table} enable row level security;`]),
    ];
  }

  /** Which tables show nobody a row, because they have row level security and no policy. */
  async describeUnreadable(): Promise<string[]> {
    const { schemas, anonRole } = this.#settings;
    const unreadable = await this.#readNames(unreadableTablesText, [schemas, [anonRole, 'authenticated']]);
    if (unreadable.length === 0) return [];
    const [subject, verb] = unreadable.length === 1 ? [unreadable[0], 'has'] : [`${unreadable.length} tables`, 'have'];
    return [
      `${subject} ${verb} row level security and no policy, so ${anonRole} and authenticated see no rows. A policy that shows them, such as:`,
      ...listFirst(unreadable, (table) => [`  create policy readable on ${table} for select using (true);`]),
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

  async #findClosed(): Promise<readonly string[]> {
    const clientRoles = [this.#settings.anonRole, 'authenticated'];
    const existing = await this.#readNames('select rolname as name from pg_roles where rolname = any ($1)', [clientRoles]);
    this.#roles = clientRoles.filter((role) => existing.includes(role));
    return this.#readNames(closedTablesText, [this.#settings.schemas, this.#roles]);
  }

  async #readNames(text: string, values: unknown[]): Promise<readonly string[]> {
    const { rows } = await this.#reader.query<{ name: string }>(text, values);
    return rows.map(({ name }) => name);
  }
}

/** The lines of the first items, and where the others are named. */
function listFirst<Item>(items: readonly Item[], linesOf: (item: Item) => readonly string[]): string[] {
  const more = items.length > maxNamed ? ['  … ("rowgraph doctor" names them all)'] : [];
  return [...items.slice(0, maxNamed).flatMap(linesOf), ...more];
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
  const excluded = findings.filter(({ code }) => exclusions.has(code));
  if (excluded.length > 0) return [`The API is empty for ${role}:`, ...listFirst(excluded, describeReason)];
  const where = schemas.length === 1 ? `the schema ${schemas[0]}` : `the schemas ${schemas.join(', ')}`;
  const advice = `create some with psql, ${isOwn ? '' : 'load a file with --sql, '}or expose another schema with --schemas`;
  return [`The API is empty because there are no tables or functions in ${where}: ${advice}.`];
}

function describeReason({ object, name, message, remedy }: Finding): string[] {
  return [`  ${object} ${name}: ${message}`, ...(remedy === null ? [] : [`    ${remedy}`])];
}
