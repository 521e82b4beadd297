/** What roles may do with the objects of a catalog, including by membership and default: loaded in one query per role. */
import type { RequestDatabase } from '../database/database.ts';
import { ApiError, quote } from '../errors/api-error.ts';
import type { Catalog } from './catalog.ts';

export interface RoleStanding {
  readonly name: string;
  /** Whether the login role may become it (`set role`). */
  readonly assumable: boolean;
  /** Whether it is the login role itself. */
  readonly isLogin: boolean;
  /** Equal texts mean that the same policies have held for it: whether any do, those of which other roles, and how often roles were written. */
  readonly policyRoles: string;
  /** Superusers and predefined roles (`pg_read_all_data` and the like) that it is or is a member of. */
  readonly powers: readonly string[];
}

export interface CatalogRole extends RoleStanding {
  /** Its privileges on the objects of the catalog, for `readPrivileges`. Roles with equal text have equal privileges. */
  readonly privileges: string;
}

export interface Privileges {
  readonly role: string;
  /** Schemas with USAGE, by id. */
  readonly schemas: Granted;
  readonly tables: { get(id: number): TablePrivileges | undefined };
  /** Functions with EXECUTE, by id; those of operators too. */
  readonly functions: Granted;
  /** Enums with USAGE, by id. */
  readonly types: Granted;
}

interface Granted {
  has(id: number): boolean;
}

export interface ColumnPrivileges {
  readonly select: boolean;
  readonly insert: boolean;
  readonly update: boolean;
}

export interface TablePrivileges extends ColumnPrivileges {
  readonly delete: boolean;
  /** Columns with grants of their own, by number. */
  readonly columns: ReadonlyMap<number, ColumnPrivileges>;
}

/**
 * How often rows of these catalogs have been written: another number after a change that was undone, which no row shows. From PostgreSQL's
 * statistics, which hear of a transaction at the latest when its session has been idle for ten seconds or ends
 * (https://www.postgresql.org/docs/current/monitoring-stats.html#MONITORING-STATS-VIEWS). A standby does not count. PostgreSQL 14 would
 * write them to files whenever they are read, so there it is null.
 */
export function writesOf(...catalogs: readonly string[]): string {
  const ids = catalogs.map((name) => `'pg_catalog.${name}'::pg_catalog.regclass`);
  const writes = ['inserted', 'updated', 'deleted'].map((kind) => `pg_catalog.pg_stat_get_tuples_${kind}(c.id)`);
  return `(select pg_catalog.sum(${writes.join(' + ')}) from pg_catalog.unnest(array[${ids.join(', ')}]) c(id)
    where pg_catalog.current_setting('server_version_num')::int >= 150000)`;
}

const roleWrites = writesOf('pg_authid', 'pg_auth_members');

/**
 * What decides whether requests may run as a role `r`, and which policies hold for it: PostgreSQL keeps the plans of prepared statements when
 * memberships change, so statements are not shared with whoever ran when roles were others, even if they have become the same again. Membership counts even if not inherited. pg_database_owner has no power over rows.
 */
const standing = `pg_catalog.json_build_object(
  'assumable', pg_catalog.pg_has_role(session_user, r.oid, 'MEMBER'),
  'login', r.rolname = session_user,
  'policies', pg_catalog.concat_ws(' ', r.rolbypassrls, ${roleWrites}, (
    select pg_catalog.string_agg(m.oid::text, ' ' order by m.oid)
    from pg_catalog.pg_roles m where m.oid <> r.oid and pg_catalog.pg_has_role(r.oid, m.oid, 'USAGE')
  )),
  'powers', (
    with recursive membership as (
      select r.oid
      union
      select m.roleid from membership of join pg_catalog.pg_auth_members m on m.member = of.oid
    )
    select pg_catalog.json_agg(p.rolname order by p.oid)
    from membership m join pg_catalog.pg_roles p on p.oid = m.oid
    where p.rolsuper or (pg_catalog.starts_with(p.rolname, 'pg_') and p.rolname <> 'pg_database_owner')
  )
)::text`;

const standingsQuery = `select r.rolname, ${standing}
from pg_catalog.pg_roles r
where r.rolname = any (array(select n.name from pg_catalog.json_array_elements_text($1::json) n(name))::name[])`;

/**
 * Privileges are one digit per object, in catalog order. PostgreSQL's privilege functions return null for an object that was dropped since
 * the catalog was loaded, which counts as no privilege. They are called once for all tables with the same owner and grants, and for a
 * column only if it has grants of its own.
 */
const privilegesQuery = `
with role as materialized (select r.oid, r.rolname, r.rolsuper, r.rolbypassrls from pg_catalog.pg_roles r where r.rolname = $1::text),
listed as materialized (
  select t.id::oid as id, t.position from pg_catalog.json_array_elements_text($2::json -> 'tables') with ordinality t(id, position)
),
alike as materialized (
  select pg_catalog.min(c.oid::int8)::oid as id, pg_catalog.array_agg(l.position) as positions
  from listed l join pg_catalog.pg_class c on c.oid = l.id
  group by c.relnamespace, c.relkind, c.relowner, c.relacl
),
granted as materialized (
  select position,
    case when pg_catalog.has_table_privilege(r.oid, a.id, 'SELECT') then 1 else 0 end
    + case when pg_catalog.has_table_privilege(r.oid, a.id, 'INSERT') then 2 else 0 end
    + case when pg_catalog.has_table_privilege(r.oid, a.id, 'UPDATE') then 4 else 0 end
    + case when pg_catalog.has_table_privilege(r.oid, a.id, 'DELETE') then 8 else 0 end as bits
  from role r, alike a, pg_catalog.unnest(a.positions) position
)
select ${standing},
pg_catalog.json_build_object(
  'schemas', (
    select pg_catalog.string_agg(case when pg_catalog.has_schema_privilege(r.oid, s.id::oid, 'USAGE') then '1' else '0' end, '' order by s.position)
    from pg_catalog.json_array_elements_text($2::json -> 'schemas') with ordinality s(id, position)
  ),
  'tables', (
    select pg_catalog.string_agg(pg_catalog.to_hex(coalesce(g.bits, 0)), '' order by l.position)
    from listed l left join granted g on g.position = l.position
  ),
  'columns', (
    select pg_catalog.json_agg(pg_catalog.json_build_array(
      a.attrelid::int8, a.attnum,
      case when pg_catalog.has_column_privilege(r.oid, a.attrelid, a.attnum, 'SELECT') then 1 else 0 end
      + case when pg_catalog.has_column_privilege(r.oid, a.attrelid, a.attnum, 'INSERT') then 2 else 0 end
      + case when pg_catalog.has_column_privilege(r.oid, a.attrelid, a.attnum, 'UPDATE') then 4 else 0 end
    ) order by a.attrelid, a.attnum)
    from pg_catalog.pg_attribute a
    where a.attacl is not null and a.attnum > 0 and not a.attisdropped
      and (a.attrelid in (select l.id from listed l)) is true
  ),
  'functions', (
    select pg_catalog.string_agg(case when pg_catalog.has_function_privilege(r.oid, f.id::oid, 'EXECUTE') then '1' else '0' end, '' order by f.position)
    from pg_catalog.json_array_elements_text($2::json -> 'functions') with ordinality f(id, position)
  ),
  'types', (
    select pg_catalog.string_agg(case when pg_catalog.has_type_privilege(r.oid, t.id::oid, 'USAGE') then '1' else '0' end, '' order by t.position)
    from pg_catalog.json_array_elements_text($2::json -> 'types') with ordinality t(id, position)
  )
)::text
from role r`;

interface RawRole {
  readonly assumable: boolean;
  readonly login: boolean;
  readonly policies: string;
  /** Null if it has none. */
  readonly powers: readonly string[] | null;
}

/** One digit per object, in the order of `ObjectIds`; null if there are no such objects. */
interface RawPrivileges {
  readonly schemas: string | null;
  readonly tables: string | null;
  readonly columns: readonly [tableId: number, number: number, bits: number][] | null;
  readonly functions: string | null;
  readonly types: string | null;
}

/** Loads a role with its privileges. Rejects with UNAUTHENTICATED if there is no such role, because only a token can name one. */
export async function loadRole(database: RequestDatabase, catalog: Catalog, name: string): Promise<CatalogRole> {
  const [row] = await database.query(privilegesQuery, [name, objectsOf(catalog).json]);
  if (!row?.[0] || !row[1]) throw new ApiError('UNAUTHENTICATED', `role ${quote(name)} does not exist`);
  return { ...parseStanding(name, row[0]), privileges: row[1] };
}

/** Loads what decides whether requests may run as each of these roles; absent are those that no longer exist. */
export async function loadStandings(database: RequestDatabase, names: readonly string[]): Promise<readonly RoleStanding[]> {
  const rows = await database.query(standingsQuery, [JSON.stringify(names)]);
  return rows.map(([name, json]) => parseStanding(name!, json!));
}

function parseStanding(name: string, json: string): RoleStanding {
  const { assumable, login, policies, powers } = JSON.parse(json) as RawRole;
  return { name, assumable, isLogin: login, policyRoles: policies, powers: powers ?? [] };
}

export async function loadPrivileges(database: RequestDatabase, catalog: Catalog, role: string): Promise<Privileges> {
  return readPrivileges(catalog, await loadRole(database, catalog, role));
}

export function readPrivileges(catalog: Catalog, { name, privileges }: Pick<CatalogRole, 'name' | 'privileges'>): Privileges {
  const raw = JSON.parse(privileges) as RawPrivileges;
  const { schemas, tables, functions, types } = objectsOf(catalog);
  const columns = new Map<number, Map<number, ColumnPrivileges>>();
  for (const [tableId, number, bits] of raw.columns ?? []) {
    const ofTable = columns.get(tableId) ?? new Map<number, ColumnPrivileges>();
    columns.set(tableId, ofTable.set(number, columnPrivileges(bits)));
  }
  const ofColumns = new Map(
    [...columns].map(([id, byNumber]) => [id, { ...onTables[digitOf(raw.tables, tables, id)]!, columns: byNumber }]),
  );
  return {
    role: name,
    schemas: granted(raw.schemas, schemas),
    tables: { get: (id) => ofColumns.get(id) ?? (tables.has(id) ? onTables[digitOf(raw.tables, tables, id)] : undefined) },
    functions: granted(raw.functions, functions),
    types: granted(raw.types, types),
  };
}

type Positions = ReadonlyMap<number, number>;

/**
 * The objects whose privileges are queried. Of types, only enums matter. Schemas include those of computed fields of exposed tables, of
 * types and of operators; functions include those of operators.
 */
interface ObjectIds {
  readonly schemas: Positions;
  readonly tables: Positions;
  readonly functions: Positions;
  readonly types: Positions;
  /** The ids as the query's parameter. */
  readonly json: string;
}

const objectIds = new WeakMap<Catalog, ObjectIds>();

function objectsOf(catalog: Catalog): ObjectIds {
  const cached = objectIds.get(catalog);
  if (cached) return cached;
  const ofTrigrams = catalog.trigrams === null ? [] : [catalog.trigrams.schemaId];
  const searched = [...[...catalog.schemas, ...catalog.operatorSchemas].map(({ id }) => id), ...ofTrigrams];
  const types = [...catalog.types.values()];
  const ofTypes = types.flatMap(({ schema, schemaId, enumSchema }) =>
    schema === 'pg_catalog' ? [] : [schemaId, enumSchema?.id ?? schemaId],
  );
  const ofVectors = catalog.vectorExtension === null ? [] : [catalog.vectorExtension.schemaId];
  const schemas = positionsOf([...searched, ...ofVectors, ...catalog.functions.map(({ schemaId }) => schemaId), ...ofTypes]);
  const tables = positionsOf(catalog.tables.map(({ id }) => id));
  const functions = positionsOf([...catalog.functions.map(({ id }) => id), ...types.flatMap(({ operatorIds }) => operatorIds)]);
  const enums = positionsOf(types.flatMap(({ id, labels }) => (labels ? [id] : [])));
  const lists = { schemas: [...schemas.keys()], tables: [...tables.keys()], functions: [...functions.keys()], types: [...enums.keys()] };
  const ids = { schemas, tables, functions, types: enums, json: JSON.stringify(lists) };
  objectIds.set(catalog, ids);
  return ids;
}

function positionsOf(ids: readonly number[]): Positions {
  return new Map([...new Set(ids)].map((id, position) => [id, position]));
}

function granted(digits: string | null, positions: Positions): Granted {
  return { has: (id) => digitOf(digits, positions, id) !== 0 };
}

/** The digit of an object; 0 if it was not queried. */
function digitOf(digits: string | null, positions: Positions, id: number): number {
  return Number.parseInt(digits?.charAt(positions.get(id) ?? Infinity) || '0', 16);
}

function columnPrivileges(bits: number): ColumnPrivileges {
  return { select: (bits & 1) !== 0, insert: (bits & 2) !== 0, update: (bits & 4) !== 0 };
}

const noColumns: TablePrivileges['columns'] = new Map();

/** Privileges on tables without column grants, indexed by their bits. */
const onTables: readonly TablePrivileges[] = Array.from({ length: 16 }, (_, bits) => {
  return { ...columnPrivileges(bits), delete: (bits & 8) !== 0, columns: noColumns };
});
