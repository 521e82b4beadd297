/**
 * What an answer depends on, as the catalogs say: the relations that a statement reads, through views, policies, partitions, children and
 * functions whose bodies PostgreSQL has parsed. Where a function is called whose body is text, only a trace of the transaction is complete
 * (`engine/standing-request.ts`).
 */
import type { RequestDatabase } from '../database/database.ts';

export interface Dependencies {
  /** The ids of relations: tables, partitions, children, views, materialized views, foreign tables, sequences. */
  readonly relations: readonly number[];
  /** Whether it calls functions that may read others, so that its transactions are traced. */
  readonly isTraced: boolean;
  /** Whether it may read the claims, or another setting that tells about the request. */
  readonly readsClaims: boolean;
  /** What may change its answer without any table changing, each in words. */
  readonly unannounced: readonly string[];
  /** Relations of rowgraph's own, which each statement reads to check the version of the schema. */
  readonly own: ReadonlySet<number>;
}

/** Functions of PostgreSQL that return another value each time although they are not volatile, and `age` of one argument. */
const clockFunctions = `('now', 'transaction_timestamp', 'statement_timestamp', 'pg_current_snapshot', 'txid_current_snapshot')`;
const clockWords =
  'now|pg_current_snapshot|txid_current_snapshot|transaction_timestamp|statement_timestamp|clock_timestamp|timeofday|current_date|current_time|current_timestamp|localtime|localtimestamp|random|gen_random_uuid|nextval|currval|lastval';

/** Functions of PostgreSQL that run SQL which they are given as text. */
const dynamicFunctions = '^(query|cursor|table|schema|database)_to_xml|^ts_stat$|^ts_rewrite$';
/** What a tree that reads a system catalog has in it. */
const catalogs = ':relid ([0-9]{1,4}|1[0-5][0-9]{3}) ';
/** Words without one of which a function in SQL or PL/pgSQL reads no table, unless another function does that it calls. */
const tableWords =
  'from|join|using|table|into|perform|execute|copy|lo_get|lo_open|query_to_xml|cursor_to_xml|schema_to_xml|database_to_xml';

/**
 * Nodes are `r`, a relation that is read, and `p`, a function that is called. A materialized view is read as a table is. Policies count
 * whoever they are for.
 */
const dependenciesQuery = `
with recursive reference as materialized (
  select 'r' as source, w.ev_class as id, w.oid as object, 'pg_catalog.pg_rewrite'::pg_catalog.regclass as class
  from pg_catalog.pg_rewrite w join pg_catalog.pg_class c on c.oid = w.ev_class
  where w.ev_type = '1' and c.relkind = 'v' and w.oid >= 16384
  union all
  select 'r', x.polrelid, x.oid, 'pg_catalog.pg_policy' from pg_catalog.pg_policy x where x.polcmd in ('r', '*')
  union all
  select 'r', x.adrelid, x.oid, 'pg_catalog.pg_attrdef'
  from pg_catalog.pg_attrdef x join pg_catalog.pg_attribute a on a.attrelid = x.adrelid and a.attnum = x.adnum where a.attgenerated = 'v'
),
edge as materialized (
  select r.source, r.id, case d.refclassid when 'pg_catalog.pg_class'::pg_catalog.regclass then 'r' else 'p' end as target,
    case d.refclassid when 'pg_catalog.pg_operator'::pg_catalog.regclass then o.oprcode::oid else d.refobjid end as target_id
  from reference r
  join pg_catalog.pg_depend d on d.classid = r.class and d.objid = r.object
  left join pg_catalog.pg_operator o on d.refclassid = 'pg_catalog.pg_operator'::pg_catalog.regclass and o.oid = d.refobjid
  where d.refclassid in (
    'pg_catalog.pg_class'::pg_catalog.regclass, 'pg_catalog.pg_proc'::pg_catalog.regclass, 'pg_catalog.pg_operator'::pg_catalog.regclass
  ) and (r.source, r.id) is distinct from ('r', d.refobjid)
  union
  select 'p', d.objid, case d.refclassid when 'pg_catalog.pg_class'::pg_catalog.regclass then 'r' else 'p' end, d.refobjid
  from pg_catalog.pg_depend d
  where d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass
    and d.refclassid in ('pg_catalog.pg_class'::pg_catalog.regclass, 'pg_catalog.pg_proc'::pg_catalog.regclass)
  union
  select 'r', i.inhparent, 'r', i.inhrelid from pg_catalog.pg_inherits i
  union
  -- The operators and functions that the types of columns bring along.
  select 'r', a.attrelid, 'p', o.oprcode
  from pg_catalog.pg_attribute a join pg_catalog.pg_operator o on a.atttypid in (o.oprleft, o.oprright)
  where a.atttypid >= 16384 and a.attnum > 0 and o.oprcode >= 16384
  union
  select 'r', a.attrelid, 'p', k.castfunc
  from pg_catalog.pg_attribute a join pg_catalog.pg_cast k on k.castsource = a.atttypid
  where a.atttypid >= 16384 and a.attnum > 0 and k.castfunc >= 16384
),
node(kind, id) as (
  select 'r', t.id::oid from pg_catalog.json_array_elements_text($1::json) t(id)
  union
  select 'p', t.id::oid from pg_catalog.json_array_elements_text($2::json) t(id)
  union
  select e.target, e.target_id from node n join edge e on e.source = n.kind and e.id = n.id
),
builtin as materialized (
  select ':funcid (' || pg_catalog.string_agg(p.oid::text, '|') filter (where p.provolatile = 'v' or p.proname in ${clockFunctions}
      or p.proname = 'age' and p.pronargs = 1) || ') |{SQLVALUEFUNCTION :op [0-8] ' as clock,
    ':funcid (' || pg_catalog.string_agg(p.oid::text, '|') filter (where p.proname = 'current_setting') || ') ' as setting,
    ':funcid (' || pg_catalog.string_agg(p.oid::text, '|') filter (where p.proname ~ '${dynamicFunctions}') || ') ' as dynamic
  from pg_catalog.pg_proc p where p.oid < 16384 and p.pronamespace = 'pg_catalog'::pg_catalog.regnamespace
),
tree as (
  select r.id, coalesce(w.ev_action::text, pg_catalog.concat(x.polqual, x.polwithcheck), f.adbin::text) as tree,
    case when x.oid is not null then 'a policy of ' when w.oid is not null then 'the view ' else 'a column of ' end
      || r.id::pg_catalog.regclass as name
  from node n join reference r on n.kind = 'r' and r.source = 'r' and r.id = n.id
  left join pg_catalog.pg_rewrite w on r.class = 'pg_catalog.pg_rewrite'::pg_catalog.regclass and w.oid = r.object
  left join pg_catalog.pg_policy x on r.class = 'pg_catalog.pg_policy'::pg_catalog.regclass and x.oid = r.object
  left join pg_catalog.pg_attrdef f on r.class = 'pg_catalog.pg_attrdef'::pg_catalog.regclass and f.oid = r.object
),
written as materialized (
  select p.oid, p.proname, pg_catalog.lower(p.prosrc) as body, l.lanname not in ('sql', 'plpgsql') or p.prosrc ~* '\\mexception\\M' as may_catch
  from pg_catalog.pg_proc p join pg_catalog.pg_language l on l.oid = p.prolang
  where p.oid >= 16384 and l.lanname not in ('c', 'internal')
),
called as materialized (
  select p.oid, p.provolatile, p.prosqlbody::text as parsed, w.oid is not null as is_written, case when w.oid is null then '' else p.prosrc end as body,
    case
      -- What is in C and immutable computes.
      when w.oid is null then p.provolatile <> 'i'
      when l.lanname not in ('sql', 'plpgsql') then true
      else p.prosrc ~* '\\m(${tableWords})\\M' or exists (
        select from written o where o.oid <> p.oid and pg_catalog.strpos(pg_catalog.lower(p.prosrc), pg_catalog.lower(o.proname)) > 0
      ) or exists (select from pg_catalog.pg_operator o join written f on f.oid = o.oprcode)
    end as may_read
  from node n
  join pg_catalog.pg_proc p on n.kind = 'p' and p.oid = n.id and p.oid >= 16384
  join pg_catalog.pg_language l on l.oid = p.prolang
  left join written w on w.oid = p.oid
),
-- Catching an error releases the locks of what was read before it, so a trace misses that: the names in the bodies have to do.
mentioned(oid, body, may_catch) as (
  select w.oid, w.body, w.may_catch from called f join written w on w.oid = f.oid where f.may_read
  union
  select o.oid, o.body, o.may_catch from mentioned m join written o on pg_catalog.strpos(m.body, pg_catalog.lower(o.proname)) > 0
),
named(kind, id) as (
  select 'r', c.oid from pg_catalog.pg_class c
  where (c.oid >= 16384 or c.relname ~ '^pg_') and c.relkind in ('r', 'p', 'v', 'm', 'f', 'S')
    and exists (select from mentioned m where m.may_catch) and exists (select from mentioned m where
      pg_catalog.strpos(m.body, pg_catalog.lower(c.relname)) > 0 or c.relname = 'pg_largeobject' and m.body ~ '\\mlo_(get|open)\\M')
  union
  select e.target, e.target_id from named n join edge e on e.source = n.kind and e.id = n.id
)
select
  (select pg_catalog.json_agg(distinct c.oid::int8) from (select n.kind, n.id from node n union select n.kind, n.id from named n) n
    join pg_catalog.pg_class c on n.kind = 'r' and c.oid = n.id where c.relkind in ('r', 'p', 'v', 'm', 'f', 'S'))::text,
  exists (select from called f where f.may_read) or exists (select from tree t, builtin b where t.tree ~ b.dynamic or t.tree ~ '${catalogs}'),
  exists (select from called f, builtin b
    where f.may_read and f.is_written or f.body ~* '\\m(current_setting|show|current_user|session_user|user)\\M' or f.parsed ~ b.setting)
    or exists (select from tree t, builtin b where t.tree ~ b.setting or t.tree ~ b.dynamic),
  (select pg_catalog.json_agg(distinct reason) from (
    select 'the foreign table ' || c.oid::pg_catalog.regclass from node n join pg_catalog.pg_class c on n.kind = 'r' and c.oid = n.id
      where c.relkind = 'f'
    union all
    select t.name || ', which reads system catalogs' from tree t where t.tree ~ '${catalogs}'
    union all
    select t.name || ', which reads the clock or the state of transactions, or calls a volatile function' from tree t, builtin b where t.tree ~ b.clock
    union all
    select 'the function ' || f.oid::pg_catalog.regprocedure || case f.provolatile when 'v' then ', which is volatile'
      else ', which may read the clock' end
    from called f, builtin b where f.provolatile = 'v' or f.body ~* '\\m(${clockWords})\\M' or f.parsed ~ b.clock
    union all
    select 'the function ' || f.oid::pg_catalog.regprocedure || ', which may catch an error of SQL that it is given as text'
    from called f join written w on w.oid = f.oid where f.may_read and w.may_catch and w.body ~ '\\mexecute\\M'
  ) u(reason))::text,
  (select pg_catalog.json_agg(c.oid::int8) from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'rowgraph')::text`;

const timeoutMillis = 30_000;

/** Reads what statements of these tables and functions depend on. Rejects if the database cannot be asked. */
export async function loadDependencies(
  database: RequestDatabase,
  tables: readonly number[],
  functions: readonly number[],
): Promise<Dependencies> {
  const parameters = [JSON.stringify(tables), JSON.stringify(functions)];
  const [row] = await database.query(dependenciesQuery, parameters, { timeoutMillis });
  const [relations, isTraced, readsClaims, unannounced, own] = row ?? [];
  return {
    relations: JSON.parse(relations ?? '[]') as number[],
    isTraced: isTraced === 't',
    readsClaims: readsClaims === 't',
    unannounced: JSON.parse(unannounced ?? '[]') as string[],
    own: new Set(JSON.parse(own ?? '[]') as number[]),
  };
}
