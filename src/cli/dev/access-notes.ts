/**
 * Explains what newcomers may find missing from the API, or not expect in it: tables without any grant, an empty API, and tables that
 * anybody may write.
 */
import type { PGlite } from '@electric-sql/pglite';
import type { Finding, FindingCode, Rowgraph } from '../../index.ts';

export interface AccessSettings {
  readonly schemas: readonly string[];
  readonly anonRole: string;
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
  readonly #pglite: PGlite;
  readonly #settings: AccessSettings;
  /** The roles of clients. */
  readonly #roles: readonly string[];
  /** Closed tables that have been reported; null before the first report. */
  #closed: ReadonlySet<string> | null = null;

  constructor(pglite: PGlite, settings: AccessSettings) {
    this.#pglite = pglite;
    this.#settings = settings;
    this.#roles = [settings.anonRole, 'authenticated'];
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
    const { schemas, anonRole } = this.#settings;
    const { rows } = await this.#pglite.query<{ name: string }>(openTablesText, [schemas, anonRole]);
    if (rows.length === 0) return [];
    const [subject, object] = rows.length === 1 ? [`${rows[0]!.name} is`, 'its rows'] : [`${rows.length} tables are`, 'their rows'];
    const more = rows.length > maxNamed ? [`  … ("rowgraph doctor" names them all)`] : [];
    return [
      `${subject} open: anybody with the ${anonRole} key may change ${object}. "dev" grants everything; row level security restricts it:`,
      ...rows.slice(0, maxNamed).map(({ name }) => `  alter table ${name} enable row level security;`),
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
    const { rows } = await this.#pglite.query<{ name: string }>(closedTablesText, [this.#settings.schemas, this.#roles]);
    return rows.map(({ name }) => name);
  }
}

function describeClosed(tables: readonly string[], roles: readonly string[]): string[] {
  if (tables.length === 0) return [];
  const [subject, object] = tables.length === 1 ? [`${tables[0]} is`, 'it'] : [`${tables.length} tables are`, 'them'];
  const more = tables.length > maxNamed ? ` -- and ${tables.length - maxNamed} more` : '';
  return [
    `${subject} missing from the API because neither ${roles.join(' nor ')} has any privilege on ${object}. To let them read:`,
    `  grant select on ${tables.slice(0, maxNamed).join(', ')} to ${roles.join(', ')};${more}`,
  ];
}

/** Why the API of the anonymous role is empty, and which commands to run; none if it is not empty, or introspection is off. */
async function describeEmptiness(graph: Rowgraph, { schemas, anonRole: role }: AccessSettings): Promise<string[]> {
  const { data } = await graph.execute({ query: '{ __schema { queryType { fields { name } } mutationType { name } } }' }, { role });
  const root = data?.__schema as { queryType: { fields: readonly unknown[] }; mutationType: object | null } | undefined;
  // Every schema has the field `node`.
  if (root === undefined || root.queryType.fields.length > 1 || root.mutationType !== null) return [];
  const { findings } = await graph.doctor({ role });
  const reasons = findings.filter(({ code }) => exclusions.has(code)).flatMap(describeReason);
  if (reasons.length > 0) return [`The API is empty for ${role}:`, ...reasons];
  const where = schemas.length === 1 ? `the schema ${schemas[0]}` : `the schemas ${schemas.join(', ')}`;
  const advice = 'create some with psql, load a file with --sql, or expose another schema with --schemas';
  return [`The API is empty because there are no tables or functions in ${where}: ${advice}.`];
}

function describeReason({ object, name, message, remedy }: Finding, position: number): string[] {
  if (position >= maxNamed) return position === maxNamed ? ['  … ("rowgraph doctor" names them all)'] : [];
  return [`  ${object} ${name}: ${message}`, ...(remedy === null ? [] : [`    ${remedy}`])];
}
