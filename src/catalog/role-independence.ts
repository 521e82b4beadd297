/**
 * Which tables PostgreSQL parses and plans queries of in the same way for every role, so that roles can share their prepared statements. The rest of what
 * a role may do it checks whenever a statement runs (docs/internals.md, "What roles share").
 */

/**
 * Types that come with PostgreSQL, enums of the exposed schemas, and arrays of both: nobody has written code for them. USAGE on another schema would be
 * checked only where the name of its type is parsed.
 */
const plainTypes = `
  select t.oid from pg_catalog.pg_type t
  where t.oid < 16384 and t.typnamespace = 'pg_catalog'::pg_catalog.regnamespace and t.typtype in ('b', 'r', 'm')
    or t.typtype = 'e' and (t.typnamespace in (select e.oid from exposed e)) is true
    or t.typcategory = 'A' and (t.typelem in (
      select u.oid from pg_catalog.pg_type u where u.typtype = 'e' and (u.typnamespace in (select e.oid from exposed e)) is true
    )) is true`;

/** Tables with a check constraint that calls a function of somebody's: the planner proves with constraints. */
export const calledByConstraints = `
  select k.conrelid from pg_catalog.pg_constraint k
  where k.contype = 'c' and exists (
    select from pg_catalog.pg_depend d
    where d.classid = 'pg_catalog.pg_constraint'::pg_catalog.regclass and d.objid = k.oid
      and d.refclassid in ('pg_catalog.pg_proc'::pg_catalog.regclass, 'pg_catalog.pg_operator'::pg_catalog.regclass)
  )`;

/** Enums and their arrays are not. */
const ofUser = (type: string): string => `(${type} >= 16384 and (${type} in (
  select pg_catalog.unnest(array[t.oid, t.typarray]) from pg_catalog.pg_type t where t.typtype = 'e'
)) is not true)`;

/** A function that the planner may replace by its body, by its value or by what C code makes of it; EXECUTE is checked only then. Language 14 is SQL. */
const replaced = "(p.prolang = 14 or p.provolatile = 'i' or p.prosupport <> 0)";

/**
 * A condition, true where statements depend on the role in all of a database. What it is due to is hardly ever met: security labels of roles, by which an extension may rewrite what is
 * parsed; functions of PostgreSQL's that are not for everybody, or not from PostgreSQL; operators and casts that bring in functions unnamed. And
 * minor versions that keep the policies of one role for another where a statement was prepared before there were any (CVE-2024-10976).
 */
export const roleDependence = `
  exists (select from pg_catalog.pg_shseclabel l where l.classoid = 'pg_catalog.pg_authid'::pg_catalog.regclass)
  or exists (
    select from pg_catalog.pg_proc p
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
 * The ids of these tables. It takes them from `relation`, and the exposed schemas from `exposed`. `(x in (...)) is true` is looked up in a hash table
 * whatever the statistics, as in `catalog-query.ts`.
 */
export const roleIndependentTables = `
select c.oid
from pg_catalog.pg_class c
where (c.oid in (select r.oid from relation r)) is true
  and not c.relrowsecurity
  -- No views, no foreign tables, no tables over others.
  and (c.relkind = 'm' or c.relkind = 'r' and not c.relhassubclass or c.relkind = 'p' and not exists (
    select from pg_catalog.pg_class f where f.relispartition and (f.relkind = 'f' or f.oid in (${calledByConstraints}))
  ))
  and (c.oid in (
    select a.attrelid from pg_catalog.pg_attribute a
    where (a.attrelid in (select r.oid from relation r)) is true and a.attnum > 0 and not a.attisdropped
      -- The expression of a virtual column is part of what is planned.
      and (a.attgenerated = 'v' or (a.atttypid in (${plainTypes})) is not true)
  )) is not true
  and (c.oid in (${calledByConstraints})) is not true
  and not (${roleDependence})`;
