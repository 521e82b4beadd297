/**
 * The query for what tables and functions depend on: function bodies, and which objects refer to which. It runs on PostgreSQL 14 to 18 with
 * any search path. Unlike the catalog query, it reads all schemas: policies, triggers and functions call what is not exposed.
 *
 * Nodes of the graph are a letter and an id: `r` reading a relation, `w` writing it, `p` a function, `o` an operator, `t` a type.
 */
import { type Lists, selectLists } from '../lists.ts';

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

const target = `
  case d.refclassid when ${ofCatalog('pg_proc')} then 'p' when ${ofCatalog('pg_operator')} then 'o' else 't' end, d.refobjid::int8`;

/** Dependencies on functions, operators and types that users created. PostgreSQL records none on its own. */
const onUsers = `
  d.refobjid >= 16384 and (
    d.refclassid in (${ofCatalog('pg_proc')}, ${ofCatalog('pg_operator')})
    or d.refclassid = ${ofCatalog('pg_type')} and (d.refobjid in (select m.oid from own_type m)) is true
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
  // Types of columns, partition keys, and expressions of indexes.
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
  relationsOf('pg_type', "'t', d.objid::int8", "'r'", ''),
  "select 't', k.castsource::int8, 'p', k.castfunc::int8 from pg_catalog.pg_cast k where k.castfunc >= 16384",
  "select 't', k.casttarget::int8, 'p', k.castfunc::int8 from pg_catalog.pg_cast k where k.castfunc >= 16384",
  `select 'w', i.indrelid::int8, 'p', f.amproc::oid::int8
   from pg_catalog.pg_index i, pg_catalog.unnest(i.indclass::pg_catalog.oid[]) u(class)
   join pg_catalog.pg_opclass o on o.oid = u.class join pg_catalog.pg_amproc f on f.amprocfamily = o.opcfamily
   where f.amproc >= 16384`,
  "select 'w', i.inhparent::int8, 'w', i.inhrelid::int8 from pg_catalog.pg_inherits i",
  `select 'w', k.confrelid::int8, 'w', k.conrelid::int8 from pg_catalog.pg_constraint k
   where k.contype = 'f' and (k.confdeltype in ('c', 'n', 'd') or k.confupdtype in ('c', 'n', 'd'))`,
].join(' union ');

/** PostgreSQL's functions that read what a session keeps: the last values of sequences. */
const sequenceFunctions = ['currval', 'lastval'] as const;

/** How a call of one of PostgreSQL's functions stands in a node tree, as a regular expression. */
const callOf = (names: readonly string[]): string => `(
  select ':funcid (' || pg_catalog.string_agg(p.oid::text, '|') || ') '
  from pg_catalog.pg_proc p
  where p.pronamespace = 'pg_catalog'::pg_catalog.regnamespace and p.proname in (${names.map((name) => `'${name}'`).join(', ')})
)`;

/** Node trees, and single functions in their form: PostgreSQL records no dependency on the functions that it came with. */
const trees = [
  "select 'r', p.polrelid, coalesce(p.polqual::text, '') || coalesce(p.polwithcheck::text, '') from pg_catalog.pg_policy p",
  "select 'w', a.adrelid, a.adbin::text from pg_catalog.pg_attrdef a",
  "select case w.ev_type when '1' then 'r' else 'w' end, w.ev_class, w.ev_action::text from pg_catalog.pg_rewrite w where w.ev_class >= 16384",
  `select case k.contypid when 0 then 'w' else 't' end, case k.contypid when 0 then k.conrelid else k.contypid end, k.conbin::text
   from pg_catalog.pg_constraint k where k.contype = 'c'`,
  "select 'w', t.tgrelid, t.tgqual::text from pg_catalog.pg_trigger t where t.tgqual is not null",
  "select 't', t.oid, t.typdefaultbin::text from pg_catalog.pg_type t where t.oid >= 16384 and t.typdefaultbin is not null",
  "select 'p', p.oid, p.proargdefaults::text from pg_catalog.pg_proc p where p.oid >= 16384 and p.proargdefaults is not null",
  "select 'o', o.oid, pg_catalog.format(':funcid %s ', o.oprcode::oid) from pg_catalog.pg_operator o where o.oid >= 16384",
  `select 'p', a.aggfnoid::oid, pg_catalog.format(':funcid %s :funcid %s ', a.aggtransfn::oid, a.aggfinalfn::oid)
   from pg_catalog.pg_aggregate a where a.aggfnoid >= 16384`,
  `select 'w', i.indrelid, pg_catalog.format(':funcid %s ', f.amproc::oid)
   from pg_catalog.pg_index i, pg_catalog.unnest(i.indclass::pg_catalog.oid[]) u(class)
   join pg_catalog.pg_opclass o on o.oid = u.class join pg_catalog.pg_amproc f on f.amprocfamily = o.opcfamily
   where u.class >= 16384`,
].join(' union all ');

/** Operators that SQL uses without a symbol, or that are too common to be recognized by it: `in`, `between`, `case`, `like`, `distinct`. */
export const impliedOperators = ['=', '<>', '<', '<=', '>', '>=', '~~', '!~~', '~~*', '!~~*'] as const;

export interface RawEffects {
  readonly functions: readonly RawFunctionBody[];
  readonly relations: readonly RawName[];
  /** All but the rows of tables, and arrays of them. */
  readonly types: readonly RawName[];
  /** Those that run a function of a user that is not in C, or one of PostgreSQL's. */
  readonly operators: readonly RawName[];
  readonly edges: readonly { readonly source: NodeKind; readonly sourceId: number; readonly target: NodeKind; readonly targetId: number }[];
  /** What calls a function that changes the session, or reads the last value of a sequence, in an expression. */
  readonly callers: readonly { readonly kind: NodeKind; readonly id: number; readonly changes: boolean; readonly sequences: boolean }[];
  /** PostgreSQL's functions that are not immutable, in SQL and in its source. Empty, as the next list, if none has to be judged by them. */
  readonly readers: readonly { readonly name: string }[];
  readonly systemRelations: readonly { readonly name: string }[];
}

/** `r` is reading a relation, `w` writing it, `p` a function, `o` an operator, `t` a type. */
export type NodeKind = 'r' | 'w' | 'p' | 'o' | 't';

interface RawName {
  readonly id: number;
  readonly name: string;
}

export interface RawFunctionBody extends RawName {
  /** `pg_proc.provolatile`: immutable, stable, volatile. */
  readonly volatility: 'i' | 's' | 'v';
  readonly language: string;
  readonly argumentNames: readonly string[] | null;
  /** Its text; null for functions in C, and aggregates. */
  readonly body: string | null;
  /** Its qualified signature as SQL; null unless it is immutable. */
  readonly signature: string | null;
}

/** Whether there is an immutable function whose body can be read. */
const hasSuspects = "exists (select from function f where f.provolatile = 'i' and f.lanname <> 'c')";

export const effectLists: Lists<RawEffects> = {
  functions: {
    members: {
      id: 'f.oid::int8',
      name: 'f.proname',
      volatility: 'f.provolatile',
      language: 'f.lanname',
      argumentNames: 'f.proargnames',
      body: "case when f.lanname = 'c' then null when f.parsed then pg_catalog.pg_get_function_sqlbody(f.oid) else f.prosrc end",
      signature: `case f.provolatile when 'i' then
        pg_catalog.format('%I.%I(%s)', f.nspname, f.proname, pg_catalog.pg_get_function_identity_arguments(f.oid)) end`,
    },
    from: 'function f',
  },
  relations: {
    members: { id: 'c.oid::int8', name: 'c.relname' },
    from: "pg_catalog.pg_class c where c.oid >= 16384 and c.relkind in ('r', 'p', 'v', 'm', 'f')",
  },
  types: { members: { id: 'm.oid::int8', name: 'm.typname' }, from: 'own_type m' },
  // Those of extensions, in C, are clean and many.
  operators: {
    members: { id: 'o.oid::int8', name: 'o.oprname' },
    from: `pg_catalog.pg_operator o
      where o.oid >= 16384 and (o.oprcode < 16384 or o.oprcode in (select f.oid from function f where f.lanname <> 'c' or f.provolatile = 'v'))`,
  },
  edges: {
    members: { source: 'e.source', sourceId: 'e.source_id', target: 'e.target', targetId: 'e.target_id' },
    from: `(${edges}) e(source, source_id, target, target_id)`,
  },
  callers: {
    members: { kind: 'e.kind', id: 'e.id::int8', changes: 'e.tree ~ c.changes', sequences: 'e.tree ~ c.sequences' },
    from: "(select c.changes, c.sequences, c.changes || '|' || c.sequences as any from call c offset 0) c, tree e where e.tree ~ c.any",
  },
  // A function in the language "internal" has a name of PostgreSQL's source as its body.
  readers: {
    members: { name: 'r.name' },
    from: `(
      select distinct n.name
      from pg_catalog.pg_proc p, pg_catalog.unnest(array[p.proname::text, p.prosrc]) n(name)
      where p.prokind <> 'a' and p.pronamespace = 'pg_catalog'::pg_catalog.regnamespace and p.provolatile <> 'i' and ${hasSuspects}
    ) r`,
  },
  systemRelations: {
    members: { name: 'c.relname' },
    from: `pg_catalog.pg_class c where c.oid < 16384 and c.relkind in ('r', 'v') and ${hasSuspects}`,
  },
};

export const effectsQuery = `
with own_type as materialized (
  -- All but the rows of tables, with arrays of them.
  with base as (
    select t.oid, t.typname from pg_catalog.pg_type t
    where t.oid >= 16384 and t.typelem = 0 and (t.typtype <> 'c' or (t.typrelid in (
      select c.oid from pg_catalog.pg_class c where c.relkind = 'c'
    )) is true)
  )
  select b.oid, b.typname from base b
  union all
  select t.oid, t.typname from pg_catalog.pg_type t where t.oid >= 16384 and t.typelem <> 0 and (t.typelem in (select b.oid from base b)) is true
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
call as materialized (select ${callOf(sessionFunctions)} as changes, ${callOf(sequenceFunctions)} as sequences),
tree(kind, id, tree) as (${trees})
${selectLists(effectLists)}`;
