/**
 * Which tables are role-independent: PostgreSQL parses and plans queries on them in the same way for every role, so roles can share
 * prepared statements. It checks all other privileges each time a statement runs (docs/internals.md, "What roles share").
 */

/**
 * Built-in types, enums of the exposed schemas, and arrays of both: none of them runs user code. PostgreSQL checks USAGE on the schema of a
 * type only when it parses the type's name, so enums of other schemas do not qualify.
 */
const plainTypes = `
  select t.oid from pg_catalog.pg_type t
  where t.oid < 16384 and t.typnamespace = 'pg_catalog'::pg_catalog.regnamespace and t.typtype in ('b', 'r', 'm')
    or t.typtype = 'e' and (t.typnamespace in (select e.oid from exposed e)) is true
    or t.typcategory = 'A' and (t.typelem in (
      select u.oid from pg_catalog.pg_type u where u.typtype = 'e' and (u.typnamespace in (select e.oid from exposed e)) is true
    )) is true`;

/** Tables with a check constraint that calls a user's function: the planner uses constraints in proofs and may evaluate the function. */
export const calledByConstraints = `
  select k.conrelid from pg_catalog.pg_constraint k
  where k.contype = 'c' and exists (
    select from pg_catalog.pg_depend d
    where d.classid = 'pg_catalog.pg_constraint'::pg_catalog.regclass and d.objid = k.oid
      and d.refclassid in ('pg_catalog.pg_proc'::pg_catalog.regclass, 'pg_catalog.pg_operator'::pg_catalog.regclass)
  )`;

const ofUser = (type: string): string => `(${type} >= 16384 and (${type} in (
  select pg_catalog.unnest(array[t.oid, t.typarray]) from pg_catalog.pg_type t where t.typtype = 'e'
)) is not true)`;

/**
 * A function that the planner may inline, evaluate, or rewrite through its support function; only then does planning check EXECUTE.
 * Language 14 is SQL.
 */
const replaced = "(p.prolang = 14 or p.provolatile = 'i' or p.prosupport <> 0)";

/**
 * True if statements in this database depend on the role whatever the table. The causes are rare: security labels on roles, which let an
 * extension rewrite queries; functions in pg_catalog that not everybody may execute or that did not come with PostgreSQL; and user-defined
 * operators and casts, which call functions implicitly. Also minor versions that apply one role's policies to another if a statement was
 * prepared before there were any (CVE-2024-10976).
 */
export const roleDependence = `
  exists (select from pg_catalog.pg_shseclabel l where l.classoid = 'pg_catalog.pg_authid'::pg_catalog.regclass)
  or exists (
    select from (
      -- The functions that were created or changed after bootstrap, whose transaction id is 1. Apart, because a scan reads all columns of
      -- its condition for each of the thousands of rows.
      select p.oid, p.pronamespace, p.prolang, p.provolatile, p.prosupport, p.proacl
      from pg_catalog.pg_proc p where p.oid >= 16384 or p.xmin <> '1' offset 0
    ) p
    where p.pronamespace = 'pg_catalog'::pg_catalog.regnamespace and ${replaced} and (p.oid >= 16384 or p.proacl is not null and not exists (
      select from pg_catalog.aclexplode(p.proacl) x where x.grantee = 0 and x.privilege_type = 'EXECUTE'
    ))
  )
  or exists (
    select from pg_catalog.pg_operator o join pg_catalog.pg_proc p on p.oid = o.oprcode
    where o.oid >= 16384 and (p.prolang = 14 or p.prosupport <> 0)
  )
  or exists (
    select from pg_catalog.pg_cast k where k.castfunc >= 16384 and not ${ofUser('k.castsource')} and not ${ofUser('k.casttarget')}
  )
  or (select v.number < 140014 or v.number between 150000 and 150008 or v.number between 160000 and 160004 or v.number = 170000
      from (select pg_catalog.current_setting('server_version_num')::int4 as number) v)`;

/**
 * Selects the ids of role-independent tables from `relation`, with the exposed schemas in `exposed`: both CTEs of `catalog-query.ts`. Like
 * that query, it uses `(x in (...)) is true`, a hash lookup whatever the statistics.
 */
export const roleIndependentTables = `
select c.oid
from pg_catalog.pg_class c
where (c.oid in (select r.oid from relation r)) is true
  and not c.relrowsecurity
  -- No views, foreign tables, or tables with children.
  and (c.relkind = 'm' or c.relkind = 'r' and not c.relhassubclass or c.relkind = 'p' and not exists (
    select from pg_catalog.pg_class f where f.relispartition and (f.relkind = 'f' or f.oid in (${calledByConstraints}))
  ))
  and (c.oid in (
    select a.attrelid from pg_catalog.pg_attribute a
    where (a.attrelid in (select r.oid from relation r)) is true and a.attnum > 0 and not a.attisdropped
      -- Virtual columns: their expressions become part of the query.
      and (a.attgenerated = 'v' or (a.atttypid in (${plainTypes})) is not true)
  )) is not true
  and (c.oid in (${calledByConstraints})) is not true
  and not (${roleDependence})`;
