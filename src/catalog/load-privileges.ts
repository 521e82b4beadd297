/**
 * Loads what one role may do with the objects of a catalog: PostgreSQL is asked, memberships and defaults included. One query a role.
 */
import type { Database } from '../database/database.ts';
import { ApiError, quote } from '../errors.ts';
import type { Catalog, ColumnPrivileges, Privileges, TablePrivileges } from './catalog.ts';

/**
 * The privilege functions answer null for what has vanished since the catalog was loaded, which counts as no. Only columns that have
 * privileges of their own are asked for one by one; all others have those of their table.
 */
const privilegesQuery = `
with role as materialized (select r.oid, r.rolname, r.rolsuper from pg_catalog.pg_roles r where r.rolname = $1::text),
relation as materialized (
  select t.id::oid as id,
    case when pg_catalog.has_table_privilege(r.oid, t.id::oid, 'SELECT') then 1 else 0 end
    + case when pg_catalog.has_table_privilege(r.oid, t.id::oid, 'INSERT') then 2 else 0 end
    + case when pg_catalog.has_table_privilege(r.oid, t.id::oid, 'UPDATE') then 4 else 0 end
    + case when pg_catalog.has_table_privilege(r.oid, t.id::oid, 'DELETE') then 8 else 0 end as bits
  from role r, pg_catalog.json_array_elements_text($2::json -> 'tables') t(id)
)
select pg_catalog.json_build_object(
  'assumable', pg_catalog.pg_has_role(session_user, r.oid, 'MEMBER'),
  'login', r.rolname = session_user,
  -- Membership counts even where it is not inherited. Being the owner of the database gives no power over rows.
  'powers', (
    select pg_catalog.json_agg(p.rolname order by p.oid)
    from pg_catalog.pg_roles p
    where (p.rolsuper or (pg_catalog.starts_with(p.rolname, 'pg_') and p.rolname <> 'pg_database_owner'))
      and pg_catalog.pg_has_role(r.oid, p.oid, 'MEMBER') and (p.oid = r.oid or not r.rolsuper)
  ),
  'schemas', (
    select pg_catalog.json_agg(s.id::int8)
    from pg_catalog.json_array_elements_text($2::json -> 'schemas') s(id)
    where pg_catalog.has_schema_privilege(r.oid, s.id::oid, 'USAGE')
  ),
  'tables', (select pg_catalog.json_agg(pg_catalog.json_build_array(t.id::int8, t.bits)) from relation t),
  'columns', (
    select pg_catalog.json_agg(pg_catalog.json_build_array(
      a.attrelid::int8, a.attnum,
      case when pg_catalog.has_column_privilege(r.oid, a.attrelid, a.attnum, 'SELECT') then 1 else 0 end
      + case when pg_catalog.has_column_privilege(r.oid, a.attrelid, a.attnum, 'INSERT') then 2 else 0 end
      + case when pg_catalog.has_column_privilege(r.oid, a.attrelid, a.attnum, 'UPDATE') then 4 else 0 end
    ))
    from pg_catalog.pg_attribute a
    where a.attacl is not null and a.attnum > 0 and not a.attisdropped
      and (a.attrelid in (select t.id from relation t)) is true
  ),
  'functions', (
    select pg_catalog.json_agg(f.id::int8)
    from pg_catalog.json_array_elements_text($2::json -> 'functions') f(id)
    where pg_catalog.has_function_privilege(r.oid, f.id::oid, 'EXECUTE')
  ),
  'types', (
    select pg_catalog.json_agg(t.id::int8)
    from pg_catalog.json_array_elements_text($2::json -> 'types') t(id)
    where pg_catalog.has_type_privilege(r.oid, t.id::oid, 'USAGE')
  )
)::text
from role r`;

interface RawPrivileges {
  readonly assumable: boolean;
  readonly login: boolean;
  /** Null if there are none. */
  readonly powers: readonly string[] | null;
  readonly schemas: readonly number[] | null;
  readonly tables: readonly [id: number, bits: number][] | null;
  readonly columns: readonly [tableId: number, number: number, bits: number][] | null;
  readonly functions: readonly number[] | null;
  readonly types: readonly number[] | null;
}

/** Loads the privileges of a role. Rejects with UNAUTHENTICATED if the role does not exist: only tokens name such roles. */
export async function loadPrivileges(database: Database, catalog: Catalog, role: string): Promise<Privileges> {
  const [row] = await database.query(privilegesQuery, [role, JSON.stringify(objectsOf(catalog))]);
  if (!row?.[0]) throw new ApiError('UNAUTHENTICATED', `role ${quote(role)} does not exist`);
  const raw = JSON.parse(row[0]) as RawPrivileges;
  const columns = new Map<number, Map<number, ColumnPrivileges>>();
  for (const [tableId, number, bits] of raw.columns ?? []) {
    const ofTable = columns.get(tableId) ?? new Map<number, ColumnPrivileges>();
    columns.set(tableId, ofTable.set(number, columnPrivileges(bits)));
  }
  return {
    role,
    assumable: raw.assumable,
    isLogin: raw.login,
    powers: raw.powers ?? [],
    schemas: new Set(raw.schemas),
    tables: new Map((raw.tables ?? []).map(([id, bits]) => [id, tablePrivileges(bits, columns.get(id))])),
    functions: new Set(raw.functions),
    types: new Set(raw.types),
  };
}

/** The ids to ask for. Of types only enums matter. The schemas are also those of functions that are computed fields of exposed tables. */
function objectsOf(catalog: Catalog): Record<string, readonly number[]> {
  return {
    schemas: [...new Set([...catalog.schemas.map(({ id }) => id), ...catalog.functions.map(({ schemaId }) => schemaId)])],
    tables: catalog.tables.map(({ id }) => id),
    functions: catalog.functions.map(({ id }) => id),
    types: [...catalog.types.values()].flatMap(({ id, labels }) => (labels ? [id] : [])),
  };
}

function columnPrivileges(bits: number): ColumnPrivileges {
  return { select: (bits & 1) !== 0, insert: (bits & 2) !== 0, update: (bits & 4) !== 0 };
}

const noColumns: ReadonlyMap<number, ColumnPrivileges> = new Map();

function tablePrivileges(bits: number, columns: ReadonlyMap<number, ColumnPrivileges> = noColumns): TablePrivileges {
  return { ...columnPrivileges(bits), delete: (bits & 8) !== 0, columns };
}
