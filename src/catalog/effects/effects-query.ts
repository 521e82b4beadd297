/**
 * The query for what tables and functions depend on: function bodies, and which objects refer to which. It runs on PostgreSQL 14 to 18 with
 * any search path. Unlike the catalog query, it reads all schemas: policies, triggers and functions call what is not exposed.
 *
 * Nodes of the graph are a letter and an id: `r` reading a relation, `w` writing it, `p` a function, `o` an operator, `t` a type.
 */
import { rowSeparator } from '../parse-rows.ts';
import type { RawEffects } from './raw-effects.ts';

/** PostgreSQL's functions that change the session and not only the transaction. */
export const sessionFunctions = [
  'set_config',
  'setseed',
  'pg_advisory_lock',
  'pg_advisory_lock_shared',
  'pg_try_advisory_lock',
  'pg_try_advisory_lock_shared',
] as const;

const ofCatalog = (name: string): string => `'pg_catalog.${name}'::pg_catalog.regclass`;

/** The node that a dependency leads to. */
const target = `
  case d.refclassid when ${ofCatalog('pg_proc')} then 'p' when ${ofCatalog('pg_operator')} then 'o' else 't' end, d.refobjid::int8`;

/** Dependencies on functions, operators and domains that users created. PostgreSQL records none on its own. */
const onUsers = `
  d.refobjid >= 16384 and (
    d.refclassid in (${ofCatalog('pg_proc')}, ${ofCatalog('pg_operator')})
    or d.refclassid = ${ofCatalog('pg_type')} and (d.refobjid in (select m.oid from domain m)) is true
  )`;

/** The edges from the objects of one catalog, which belong to a table, a type or a function. */
const edgesOf = (catalog: string, source: string, from: string): string => `
  select ${source}, ${target} from dependency d ${from} where d.classid = ${ofCatalog(catalog)}`;

/** The same for relations that the objects of a catalog read or write. */
const relationsOf = (catalog: string, source: string, access: string, from: string): string => `
  select ${source}, ${access}, d.refobjid::int8
  from pg_catalog.pg_depend d ${from}
  where d.classid = ${ofCatalog(catalog)} and d.refclassid = ${ofCatalog('pg_class')} and d.refobjid >= 16384`;

const edges = [
  edgesOf('pg_policy', "'r', x.polrelid::int8", 'join pg_catalog.pg_policy x on x.oid = d.objid'),
  relationsOf('pg_policy', "'r', x.polrelid::int8", "'r'", 'join pg_catalog.pg_policy x on x.oid = d.objid'),
  // Virtual columns ("v") are computed when they are read, all other defaults when a row is written.
  edgesOf(
    'pg_attrdef',
    "case a.attgenerated when 'v' then 'r' else 'w' end, x.adrelid::int8",
    `join pg_catalog.pg_attrdef x on x.oid = d.objid
     join pg_catalog.pg_attribute a on a.attrelid = x.adrelid and a.attnum = x.adnum`,
  ),
  edgesOf(
    'pg_rewrite',
    "case x.ev_type when '1' then 'r' else 'w' end, x.ev_class::int8",
    'join pg_catalog.pg_rewrite x on x.oid = d.objid',
  ),
  relationsOf('pg_rewrite', "'r', x.ev_class::int8", "'r'", "join pg_catalog.pg_rewrite x on x.oid = d.objid and x.ev_type = '1'"),
  // Writing a view writes the table behind it, and a rule writes what it refers to.
  relationsOf('pg_rewrite', "'w', x.ev_class::int8", "'w'", 'join pg_catalog.pg_rewrite x on x.oid = d.objid'),
  edgesOf(
    'pg_constraint',
    "case x.contypid when 0 then 'w' else 't' end, case x.contypid when 0 then x.conrelid else x.contypid end::int8",
    'join pg_catalog.pg_constraint x on x.oid = d.objid',
  ),
  edgesOf('pg_trigger', "'w', x.tgrelid::int8", 'join pg_catalog.pg_trigger x on x.oid = d.objid'),
  // Columns with a domain, partition keys, and expressions of indexes.
  edgesOf(
    'pg_class',
    "case when x.indrelid is null and d.refclassid = 'pg_catalog.pg_type'::pg_catalog.regclass then 'r' else 'w' end, coalesce(x.indrelid, d.objid)::int8",
    'left join pg_catalog.pg_index x on x.indexrelid = d.objid',
  ),
  edgesOf('pg_proc', "'p', d.objid::int8", ''),
  relationsOf(
    'pg_proc',
    "'p', d.objid::int8",
    "case x.provolatile when 'v' then 'w' else 'r' end",
    'join pg_catalog.pg_proc x on x.oid = d.objid',
  ),
  edgesOf('pg_operator', "'o', d.objid::int8", ''),
  edgesOf('pg_type', "'t', d.objid::int8", ''),
  "select 'w', i.inhparent::int8, 'w', i.inhrelid::int8 from pg_catalog.pg_inherits i",
  `select 'w', k.confrelid::int8, 'w', k.conrelid::int8 from pg_catalog.pg_constraint k
   where k.contype = 'f' and (k.confdeltype in ('c', 'n', 'd') or k.confupdtype in ('c', 'n', 'd'))`,
].join(' union ');

/** Expressions that call one of the functions above themselves: PostgreSQL records no dependency on what it came with. */
const callers = [
  "select 'r', p.polrelid from pg_catalog.pg_policy p, pattern c where p.polqual::text ~ c.text or p.polwithcheck::text ~ c.text",
  "select 'w', a.adrelid from pg_catalog.pg_attrdef a, pattern c where a.adbin::text ~ c.text",
  `select case w.ev_type when '1' then 'r' else 'w' end, w.ev_class from pg_catalog.pg_rewrite w, pattern c
   where w.ev_class >= 16384 and w.ev_action::text ~ c.text`,
  "select 'w', k.conrelid from pg_catalog.pg_constraint k, pattern c where k.contype = 'c' and k.conrelid <> 0 and k.conbin::text ~ c.text",
  "select 't', k.contypid from pg_catalog.pg_constraint k, pattern c where k.contype = 'c' and k.contypid <> 0 and k.conbin::text ~ c.text",
  "select 'w', t.tgrelid from pg_catalog.pg_trigger t, pattern c where t.tgqual::text ~ c.text",
].join(' union ');

const rowsOf = (row: string, from: string): string =>
  `select pg_catalog.string_agg(pg_catalog.json_build_array(${row})::text, pg_catalog.chr(${rowSeparator.charCodeAt(0)})) from ${from}`;
const namesOf = (name: string, from: string): string =>
  `select pg_catalog.string_agg(distinct pg_catalog.to_json(${name})::text, pg_catalog.chr(${rowSeparator.charCodeAt(0)})) from ${from}`;

/** Whether there is an immutable function whose body can be read. */
const hasSuspects = "exists (select from function f where f.provolatile = 'i' and f.lanname <> 'c')";

/** Each list as text for `parseRows`, as in `catalog-query.ts`. */
const lists: Readonly<Record<keyof RawEffects, string>> = {
  functions: rowsOf(
    `f.oid::int8, f.proname, f.provolatile, f.lanname, f.proargnames,
    case when f.lanname = 'c' then null when f.parsed then pg_catalog.pg_get_function_sqlbody(f.oid) else f.prosrc end,
    case f.provolatile when 'i' then pg_catalog.format('%I.%I(%s)', f.nspname, f.proname, pg_catalog.pg_get_function_identity_arguments(f.oid)) end`,
    'function f',
  ),
  relations: rowsOf('c.oid::int8, c.relname', "pg_catalog.pg_class c where c.oid >= 16384 and c.relkind in ('r', 'p', 'v', 'm', 'f')"),
  domains: rowsOf('m.oid::int8, m.typname', 'domain m'),
  operators: rowsOf('o.oid::int8, o.oprname', 'pg_catalog.pg_operator o where o.oid >= 16384'),
  edges: rowsOf('e.source, e.source_id, e.target, e.target_id', `(${edges}) e(source, source_id, target, target_id)`),
  callers: rowsOf('c.kind, c.id::int8', `(${callers}) c(kind, id)`),
  // A function in the language "internal" has a name of PostgreSQL's source as its body.
  readers: namesOf(
    'n.name',
    `pg_catalog.pg_proc p, pg_catalog.unnest(array[p.proname::text, p.prosrc]) n(name) where p.prokind <> 'a' and p.pronamespace = 'pg_catalog'::pg_catalog.regnamespace and p.provolatile <> 'i' and ${hasSuspects}`,
  ),
  systemRelations: namesOf('c.relname', `pg_catalog.pg_class c where c.oid < 16384 and c.relkind in ('r', 'v') and ${hasSuspects}`),
};

/** Names of the lists, in column order. */
export const effectLists = Object.keys(lists) as readonly (keyof RawEffects)[];

/** Selects each list as a column. */
export const effectsQuery = `
with domain as materialized (
  select t.oid, t.typname
  from pg_catalog.pg_type t
  where t.oid >= 16384 and (t.typtype = 'd' or (t.typelem in (
    select e.oid from pg_catalog.pg_type e where e.typtype = 'd' and e.oid >= 16384
  )) is true)
),
function as materialized (
  -- Of an aggregate, only what it refers to matters.
  select p.oid, p.proname, p.provolatile, p.prokind, p.proargnames, n.nspname, case p.prokind when 'a' then 'c' else l.lanname end as lanname, p.prosrc, p.prosqlbody is not null as parsed
  from pg_catalog.pg_proc p
  join pg_catalog.pg_language l on l.oid = p.prolang
  join pg_catalog.pg_namespace n on n.oid = p.pronamespace
  where p.oid >= 16384
),
dependency as materialized (
  select d.classid, d.objid, d.refclassid, d.refobjid from pg_catalog.pg_depend d where ${onUsers}
),
pattern as materialized (
  select ':funcid (' || pg_catalog.string_agg(p.oid::text, '|') || ') ' as text
  from pg_catalog.pg_proc p
  where p.pronamespace = 'pg_catalog'::pg_catalog.regnamespace and p.proname in (${sessionFunctions.map((name) => `'${name}'`).join(', ')})
)
select ${Object.values(lists)
  .map((list) => `(${list})`)
  .join(', ')}`;
