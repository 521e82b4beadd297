/**
 * Texts that change with the database. The fingerprint changes whenever a change may change the API: the cheap way to stay fresh without
 * event triggers. Instead of values it hashes the positions and transaction ids of rows in the system catalogs, which change with every
 * update of a row. The marker changes whenever any transaction changes anything: if it does not, the catalogs need not be compared.
 */
import { writesOf } from '../catalog/privileges.ts';
import { calledByConstraints, roleDependence } from '../catalog/role-independence.ts';
import { relationsOfViews } from '../catalog/views/view-query.ts';
import type { QueryOptions, RequestDatabase } from '../database/database.ts';
import { literal, render } from '../sql/sql.ts';

/**
 * Unpinned objects have ids from here on (FirstUnpinnedObjectId): whatever users create, even in single-user mode, and the information
 * schema. Of the pinned objects, the schemas pg_catalog and public may be exposed.
 */
const firstUnpinnedId = 12000;
const publicId = 2200;

/** The catalogs of objects whose comments may have directives. */
const commented = ['pg_namespace', 'pg_class', 'pg_constraint', 'pg_type', 'pg_proc']
  .map((name) => `'pg_catalog.${name}'::pg_catalog.regclass`)
  .join(', ');

/** Where a query has the names of the exposed schemas, as a list in JSON. */
const schemasMark = '$schemas';

/**
 * Only rows that the API is made of, so that temporary tables of other sessions and work in other schemas change nothing. No object of the
 * exposed schemas has an id lower than `firstId`, so an index can skip the thousands of objects that every database has.
 */
const relationsFrom = (firstId: number): string => `
with exposed as materialized (
  select n.oid
  from pg_catalog.pg_namespace n
  where n.nspname in (select s.name from pg_catalog.json_array_elements_text(${schemasMark}::json) s(name))
),
relation as materialized (
  select c.oid, c.reltype, pg_catalog.hashtextextended(
    pg_catalog.concat_ws(' ', c.oid, c.relname, c.relnamespace, c.relkind, c.relrowsecurity, c.relhassubclass, c.reltype, c.relowner, c.relacl, c.reloptions), 0
  ) as hash, c.relkind
  from pg_catalog.pg_class c
  where c.oid >= ${firstId} and (c.relnamespace in (select e.oid from exposed e)) is true
    and c.relkind in ('r', 'p', 'v', 'm', 'f') and c.relpersistence <> 't'
)`;

/**
 * Parts that are the same again when a change is undone. Hashed by value are `pg_class`, because TRUNCATE, REINDEX and REFRESH rewrite its
 * rows (ANALYZE and VACUUM change them in place), and roles, whose rows only a superuser can read; a membership comes and goes as a row.
 */
const values = `pg_catalog.concat_ws(' ',
  (select pg_catalog.bit_xor(r.hash) from relation r),
  (select pg_catalog.bit_xor(pg_catalog.hashtextextended(pg_catalog.concat_ws(' ', c.oid, c.relname), 0))
    from pg_catalog.pg_class c
    where c.relkind in ('i', 'I') and c.oid = any (array(
      select i.indexrelid from pg_catalog.pg_index i where i.indisunique and (i.indrelid in (select r.oid from relation r)) is true
    ))),
  (select pg_catalog.bit_xor(pg_catalog.hashtextextended(pg_catalog.concat_ws(' ', r.oid, r.rolname, r.rolsuper, r.rolinherit, r.rolbypassrls), 0))
    from pg_catalog.pg_roles r),
  (select pg_catalog.bit_xor(pg_catalog.hashtidextended(m.ctid, m.xmin::text::int8)) from pg_catalog.pg_auth_members m)
)`;

const valuesQueryFrom = (firstId: number): string => `${relationsFrom(firstId)} select ${values}`;

/**
 * One hash per catalog. `(x in (...)) is true` makes PostgreSQL use a hash table whatever the statistics, as in `catalog-query.ts`;
 * `x = any (array(...))` makes it use an index, in a catalog of which few rows are wanted.
 */
const fingerprintQueryFrom = (firstId: number): string => `${relationsFrom(firstId)},
-- What views read, which may be in schemas that are not exposed.
source as materialized (
  ${relationsOfViews("select r.oid from relation r where r.relkind in ('v', 'm')")}
)
select ${values} || '/' || pg_catalog.concat_ws(' ',
  (select pg_catalog.bit_xor(pg_catalog.hashtidextended(n.ctid, n.xmin::text::int8))
    -- All but those of temporary tables: functions over rows and types may be in any.
    from pg_catalog.pg_namespace n where n.nspname !~ '^pg_(toast_)?temp_'),
  (select pg_catalog.bit_xor(pg_catalog.hashtidextended(a.ctid, a.xmin::text::int8))
    from pg_catalog.pg_attribute a
    where a.attrelid = any (array(select r.oid from relation r)) and a.attnum > 0),
  (select pg_catalog.bit_xor(pg_catalog.hashtidextended(k.ctid, k.xmin::text::int8))
    from pg_catalog.pg_constraint k
    where k.contype in ('f', 'n', 'p', 'u') and (k.conrelid in (select r.oid from relation r)) is true
      or k.contype = 'f' and (k.conrelid in (select s.id from source s)) is true),
  (select pg_catalog.bit_xor(pg_catalog.hashtidextended(i.ctid, i.xmin::text::int8))
    from pg_catalog.pg_index i
    where (i.indrelid in (select r.oid from relation r)) is true or (i.indrelid in (select s.id from source s)) is true),
  (select pg_catalog.bit_xor(pg_catalog.hashtidextended(w.ctid, w.xmin::text::int8))
    -- 1 is select, which all views have; other rules, like the triggers below, make the views upon a view writable too.
    from pg_catalog.pg_rewrite w
    where w.ev_type <> '1' or (w.ev_class in (select r.oid from relation r)) is true or (w.ev_class in (select s.id from source s)) is true),
  (select pg_catalog.bit_xor(pg_catalog.hashtextextended(pg_catalog.concat_ws(' ', c.oid, c.relkind, c.relhassubclass), 0))
    from pg_catalog.pg_class c where c.oid = any (array(select s.id from source s))),
  (select pg_catalog.bit_xor(pg_catalog.hashtidextended(t.ctid, t.xmin::text::int8))
    -- 64 is instead of, which makes views writable; 6 is before insert: for each row, it may fill in columns.
    from pg_catalog.pg_trigger t
    where t.tgtype & 64 <> 0 or (t.tgtype & 6 = 6 and (t.tgrelid in (select r.oid from relation r)) is true)),
  (select pg_catalog.bit_xor(pg_catalog.hashtidextended(p.ctid, p.xmin::text::int8))
    -- Those of all schemas: policies, triggers and other functions call them (catalog/effects).
    from pg_catalog.pg_proc p
    where p.oid >= ${firstId} and (p.oid >= 16384 or (p.pronamespace in (select e.oid from exposed e)) is true)),
  -- What calls a function of a user: policies, defaults, constraints, triggers, expressions of indexes. With what policies read.
  (select pg_catalog.bit_xor(pg_catalog.hashtextextended(pg_catalog.concat_ws(' ', d.classid, d.objid, d.refobjid), 0))
    from pg_catalog.pg_depend d where d.refclassid = 'pg_catalog.pg_proc'::pg_catalog.regclass and d.refobjid >= 16384),
  (select pg_catalog.bit_xor(pg_catalog.hashtidextended(p.ctid, p.xmin::text::int8)) from pg_catalog.pg_policy p),
  (select pg_catalog.bit_xor(pg_catalog.hashtextextended(pg_catalog.concat_ws(' ', k.conrelid, k.confrelid, k.confdeltype, k.confupdtype), 0))
    from pg_catalog.pg_constraint k where k.contype = 'f' and (k.confdeltype in ('c', 'n', 'd') or k.confupdtype in ('c', 'n', 'd'))),
  (select pg_catalog.bit_xor(pg_catalog.hashtidextended(t.ctid, t.xmin::text::int8))
    -- Neither rows nor arrays, which come and go with tables anywhere.
    from pg_catalog.pg_type t where t.typtype <> 'c' and t.typcategory <> 'A'),
  -- Composite types, and their attributes.
  (select pg_catalog.bit_xor(pg_catalog.hashtextextended(pg_catalog.concat_ws(' ', c.oid, c.relname, c.relnamespace), 0))
    from pg_catalog.pg_class c where c.relkind = 'c'),
  (select pg_catalog.bit_xor(pg_catalog.hashtidextended(a.ctid, a.xmin::text::int8))
    from pg_catalog.pg_attribute a
    where a.attrelid = any (array(select c.oid from pg_catalog.pg_class c where c.relkind = 'c')) and a.attnum > 0),
  (select pg_catalog.bit_xor(pg_catalog.hashtidextended(v.ctid, v.xmin::text::int8)) from pg_catalog.pg_enum v),
  -- Those of the database's own: the hundreds that it was created with have lower ids (FirstNormalObjectId).
  (select pg_catalog.bit_xor(pg_catalog.hashtidextended(c.ctid, c.xmin::text::int8)) from pg_catalog.pg_collation c where c.oid >= 16384),
  (select pg_catalog.bit_xor(pg_catalog.hashtidextended(d.ctid, d.xmin::text::int8))
    from pg_catalog.pg_description d
    -- Hundreds of collations have comments, too.
    where (d.objoid >= ${firstId} or d.objoid = ${publicId}) and d.classoid in (${commented}) and pg_catalog.strpos(d.description, '@graphql(') > 0),
  (select pg_catalog.bit_xor(pg_catalog.hashoidextended(c.conrelid, 0)) from (${calledByConstraints}) c),
  (select ${roleDependence}),
  (select pg_catalog.bit_xor(pg_catalog.hashtidextended(s.ctid, s.xmin::text::int8)) from pg_catalog.pg_db_role_setting s where s.setrole <> 0),
  -- What decides whether the login role can set those settings: the objects that they may name, and the privileges to set parameters
  -- (in pg_parameter_acl, which PostgreSQL 14 has not; its object id is 6243).
  (select pg_catalog.bit_xor(pg_catalog.hashtidextended(t.ctid, t.xmin::text::int8)) from pg_catalog.pg_tablespace t),
  (select pg_catalog.bit_xor(pg_catalog.hashtidextended(t.ctid, t.xmin::text::int8)) from pg_catalog.pg_ts_config t),
  (select pg_catalog.bit_xor(pg_catalog.hashtidextended(m.ctid, m.xmin::text::int8)) from pg_catalog.pg_am m),
  (select pg_catalog.bit_xor(pg_catalog.hashtidextended(d.ctid, d.xmin::text::int8))
    from pg_catalog.pg_shdepend d where d.dbid = 0 and d.classid = 6243)
)`;

/**
 * One query for schemas without pinned objects, and one for all schemas. The schemas are a literal, because PostgreSQL plans a prepared
 * statement with parameters anew the first times.
 */
function forSchemas(queryFrom: (firstId: number) => string): (schemas: readonly string[]) => string {
  const [unpinned, all] = [queryFrom(firstUnpinnedId), queryFrom(0)];
  return (schemas) => {
    const { text } = render(literal(JSON.stringify(schemas)));
    return (schemas.includes('pg_catalog') ? all : unpinned).replace(schemasMark, () => text);
  };
}

const fingerprintQuery = forSchemas(fingerprintQueryFrom);
const valuesQuery = forSchemas(valuesQueryFrom);

/** Reads the fingerprint of everything that the API of these schemas is derived from. Equal texts mean that nothing has changed. */
export async function readFingerprint(database: RequestDatabase, schemas: readonly string[]): Promise<string> {
  const [row] = await database.query(fingerprintQuery(schemas), [], watchQuery);
  return row?.[0] ?? '';
}

/**
 * Whether the catalogs are still as they were when the fingerprint was read. Checks only the parts in which a later comparison would miss a
 * change that is undone. Far cheaper than a fingerprint.
 */
export async function hasValuesOf(database: RequestDatabase, schemas: readonly string[], fingerprint: string): Promise<boolean> {
  const [row] = await database.query(valuesQuery(schemas), [], { ...watchQuery, isRepeated: false });
  return fingerprint.startsWith(`${row?.[0]}/`);
}

/**
 * Whatever changes a catalog gets a transaction id, and which ids are assigned and finished is what `pg_current_snapshot` returns
 * (https://www.postgresql.org/docs/current/functions-info.html#FUNCTIONS-INFO-SNAPSHOT). On a standby it does not list the running ones.
 * The start of the server tells a server from another one in its place, with another version or restored from a backup.
 */
const changeMarker = `case when pg_catalog.pg_is_in_recovery() then null
  else pg_catalog.concat_ws(' ', pg_catalog.pg_current_snapshot(), pg_catalog.pg_postmaster_start_time()) end`;
const markerQuery = `select ${changeMarker}`;

/** Reads the marker; null on a standby, which has none. Equal texts mean that nothing has changed in between. */
export async function readChangeMarker(database: RequestDatabase): Promise<string | null> {
  const [row] = await database.query(markerQuery, [], watchQuery);
  return row?.[0] ?? null;
}

/** They take milliseconds: a server that needs longer than this counts as unreachable. */
export const watchQuery: QueryOptions = { timeoutMillis: 10_000, isRepeated: true };

/** Where what was written and undone before the next look shows in no row. Rows of temporary tables are in none of these. */
const undoable = writesOf('pg_authid', 'pg_auth_members', 'pg_policy', 'pg_proc', 'pg_inherits');

/** The roles are hashed only if a transaction has changed something since the marker. How often catalogs were written may be known later. */
const rolesQuery = `select m.marker, case when m.marker is null or m.marker is distinct from $1::text then pg_catalog.concat_ws(' ',
  (select pg_catalog.bit_xor(pg_catalog.hashtextextended(pg_catalog.concat_ws(' ', r.oid, r.rolname, r.rolsuper, r.rolbypassrls), 0)) from pg_catalog.pg_roles r),
  (select pg_catalog.bit_xor(pg_catalog.hashtidextended(m.ctid, m.xmin::text::int8)) from pg_catalog.pg_auth_members m)
) end, ${undoable}
from (select ${changeMarker} as marker) m`;

export interface RoleState {
  readonly marker: string | null;
  /** A hash of roles and memberships; null if nothing has changed since the earlier marker. */
  readonly hash: string | null;
  /** How often roles, memberships and other catalogs have been written. */
  readonly writes: string | null;
}

/** Reads what says whether roles and memberships have changed since the earlier marker, or anything was changed and undone. */
export async function readRoles(database: RequestDatabase, earlier: string | null): Promise<RoleState> {
  const [row] = await database.query(rolesQuery, [earlier], watchQuery);
  return { marker: row?.[0] ?? null, hash: row?.[1] ?? null, writes: row?.[2] ?? null };
}
