/** The query for what decides safety. It runs on PostgreSQL 14 to 18 with any search path. */

import { type Lists, selectLists } from '../catalog/lists.ts';
import type { ComputedColumn, DefinerFunction, Grantees, RefusedRule, TableAccess, UnreadDirective, ViewBypass } from './safety.ts';

interface RawSafety {
  readonly server: readonly { readonly version: number; readonly bypasses: boolean | null }[];
  readonly creatable: readonly { readonly id: number; readonly grantees: Grantees }[];
  readonly tables: readonly TableAccess[];
  readonly viewBypasses: readonly ViewBypass[];
  readonly definerFunctions: readonly DefinerFunction[];
  readonly extensions: readonly { readonly functionId: number; readonly name: string }[];
  readonly unindexedKeys: readonly { readonly id: number }[];
  readonly searchIndexes: readonly { readonly tableId: number; readonly keys: readonly string[] }[];
  readonly unreadDirectives: readonly UnreadDirective[];
  readonly refusedRules: readonly RefusedRule[];
  readonly computedColumns: readonly ComputedColumn[];
  readonly partitions: readonly { readonly id: number; readonly rootId: number }[];
  readonly quotedNames: readonly { readonly name: string; readonly quoted: string }[];
}

/** The grantees of a privilege, out of the privileges of an object. */
const granteesIn = (privileges: string, privilege: string): string => `coalesce((
  select pg_catalog.json_agg(distinct g.name)
  from pg_catalog.aclexplode(${privileges}) acl join grantee g on g.oid = acl.grantee
  where acl.privilege_type = '${privilege}'
), '[]')`;

/** Rules of a view for a command, or its triggers, that take the place of the command. */
const isReplaced = (trigger: number, rule: number): string => `(
  exists (select from pg_catalog.pg_trigger t where t.tgrelid = r.oid and t.tgtype & ${trigger} = ${trigger})
  or exists (select from pg_catalog.pg_rewrite w where w.ev_class = r.oid and w.ev_type = '${rule}' and w.is_instead)
)`;

export const safetyLists: Lists<RawSafety> = {
  server: {
    members: { version: "pg_catalog.current_setting('server_version_num')::int4", bypasses: '(select r.bypasses from role r)' },
    from: '(select) s',
  },
  creatable: {
    members: { id: 's.oid::int8', grantees: granteesIn("coalesce(s.nspacl, pg_catalog.acldefault('n', s.nspowner))", 'CREATE') },
    from: "schema s, role r where pg_catalog.has_schema_privilege(r.oid, s.oid, 'CREATE')",
  },
  tables: {
    members: {
      id: 't.oid::int8',
      rowSecurity: 't.relrowsecurity',
      forced: 't.relforcerowsecurity',
      owned: "pg_catalog.pg_has_role(r.oid, t.relowner, 'USAGE')",
      // A privilege has no effect in a schema that the role may not use.
      verbs: `coalesce((
        select pg_catalog.json_agg(v.verb order by v.position)
        from (values
          (1, 'select', pg_catalog.has_any_column_privilege(r.oid, t.oid, 'SELECT')),
          (2, 'insert', pg_catalog.has_any_column_privilege(r.oid, t.oid, 'INSERT')),
          (3, 'update', pg_catalog.has_any_column_privilege(r.oid, t.oid, 'UPDATE')),
          (4, 'delete', pg_catalog.has_table_privilege(r.oid, t.oid, 'DELETE'))
        ) v(position, verb, granted)
        where v.granted and pg_catalog.has_schema_privilege(r.oid, t.relnamespace, 'USAGE')
      ), '[]')`,
      grantees: "coalesce(a.grantees, '[]')",
      policies: "coalesce(p.policies, '[]')",
    },
    from: 'role r cross join relation t left join relation_grant a on a.id = t.oid left join policy p on p.polrelid = t.oid',
  },
  viewBypasses: {
    members: {
      viewId: 'b.view::int8',
      throughId: 'b.through::int8',
      through: 'b.name',
      materialized: 'b.materialized',
      owner: 'b.owner',
      tables: 'b.bases',
    },
    from: `(
      select view, through, name, materialized, owner, pg_catalog.json_agg(base order by base) as bases
      from bypass
      group by view, through, name, materialized, owner
    ) b`,
  },
  definerFunctions: {
    members: {
      id: 'f.oid::int8',
      owner: 'o.rolname',
      ownerBypassesRowSecurity: 'o.rolsuper or o.rolbypassrls',
      // Functions with a SQL body parsed at creation, and those in C, do not look up names at run time.
      fixedSearchPath: `f.prosqlbody is not null or l.lanname in ('c', 'internal')
        or exists (select from pg_catalog.unnest(f.proconfig) c where pg_catalog.starts_with(c, 'search_path='))`,
      grantees: granteesIn("coalesce(f.proacl, pg_catalog.acldefault('f', f.proowner))", 'EXECUTE'),
    },
    // Only triggers can call those that return a trigger, whoever has EXECUTE.
    from: `role r, function f
      join pg_catalog.pg_roles o on o.oid = f.proowner
      join pg_catalog.pg_language l on l.oid = f.prolang
      where f.prosecdef and pg_catalog.has_function_privilege(r.oid, f.oid, 'EXECUTE')
        and pg_catalog.has_schema_privilege(r.oid, f.pronamespace, 'USAGE')
        and f.prorettype not in ('pg_catalog.trigger'::pg_catalog.regtype, 'pg_catalog.event_trigger'::pg_catalog.regtype)`,
  },
  extensions: {
    members: { functionId: 'f.oid::int8', name: 'e.extname' },
    from: `function f
      join pg_catalog.pg_depend d on d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass and d.objid = f.oid and d.deptype = 'e'
      join pg_catalog.pg_extension e on e.oid = d.refobjid`,
  },
  unindexedKeys: {
    members: { id: 'k.oid::int8' },
    // Keys that a partition gets from its parent are reported there. The tables are looked up in a hash table, as in catalog-query.ts:
    // without statistics, PostgreSQL would join them as nested loops. A partial index serves the key if it leaves out only nulls of a key
    // column.
    from: `pg_catalog.pg_constraint k
      where k.contype = 'f' and k.conparentid = 0 and (k.conrelid in (select r.oid from relation r)) is true and not exists (
        select from pg_catalog.pg_index i
        where i.indrelid = k.conrelid and i.indisvalid and i.indnkeyatts >= pg_catalog.cardinality(k.conkey)
          and (i.indkey::pg_catalog.int2[])[0:pg_catalog.cardinality(k.conkey) - 1] operator(pg_catalog.@>) k.conkey
          and (i.indpred is null or pg_catalog.pg_get_expr(i.indpred, i.indrelid) in (
            select '(' || pg_catalog.quote_ident(a.attname) || ' IS NOT NULL)'
            from pg_catalog.pg_attribute a
            where a.attrelid = k.conrelid and a.attnum = any (k.conkey)
          ))
      )`,
  },
  searchIndexes: {
    members: {
      tableId: 'i.indrelid::int8',
      keys: `(
        select pg_catalog.json_agg(pg_catalog.pg_get_indexdef(i.indexrelid, k.position, true) order by k.position)
        from pg_catalog.generate_series(1, i.indnkeyatts) k(position)
      )`,
    },
    from: `pg_catalog.pg_index i
      join pg_catalog.pg_class x on x.oid = i.indexrelid
      join pg_catalog.pg_am m on m.oid = x.relam and m.amname in ('gin', 'gist', 'rum')
      where (i.indrelid in (select r.oid from relation r)) is true and i.indisvalid and i.indpred is null`,
  },
  unreadDirectives: {
    members: { tableId: 'o.relation::int8', object: 'o.kind', name: 'o.name' },
    from: `(
        select 'pg_catalog.pg_constraint'::pg_catalog.regclass, k.oid, k.conrelid, 'constraint', k.conname
        from pg_catalog.pg_constraint k where k.contype <> 'f'
        union all select 'pg_catalog.pg_trigger'::pg_catalog.regclass, t.oid, t.tgrelid, 'trigger', t.tgname from pg_catalog.pg_trigger t
        union all select 'pg_catalog.pg_policy'::pg_catalog.regclass, p.oid, p.polrelid, 'policy', p.polname from pg_catalog.pg_policy p
        union all select 'pg_catalog.pg_class'::pg_catalog.regclass, x.oid, i.indrelid, 'index', x.relname
        from pg_catalog.pg_index i join pg_catalog.pg_class x on x.oid = i.indexrelid
      ) o(class, id, relation, kind, name)
      join pg_catalog.pg_description d on d.classoid = o.class and d.objoid = o.id
      where (o.relation in (select r.oid from relation r)) is true and pg_catalog.strpos(d.description, '@graphql(') > 0`,
    orderBy: 'o.kind, o.name',
  },
  refusedRules: {
    members: {
      tableId: 'r.oid::int8',
      name: 'w.rulename',
      verb: "case w.ev_type when '2' then 'update' when '3' then 'insert' else 'delete' end",
      instead: 'w.is_instead',
    },
    // PostgreSQL supports only a single unconditional action that returns rows.
    from: `relation r
      join pg_catalog.pg_rewrite w on w.ev_class = r.oid
      where w.ev_type in ('2', '3', '4') and w.ev_enabled in ('O', 'A')
        and not (w.is_instead and w.ev_qual = '<>' and w.ev_action::text like '%:returningList (%' and w.ev_action::text not like '%} {QUERY %')`,
    orderBy: 'w.rulename',
  },
  // What views compute, which writes of the view that PostgreSQL makes by itself, without a trigger or rule, refuse.
  computedColumns: {
    members: { viewId: 'r.oid::int8', name: 'a.attname', inserts: 'v.inserts', updates: 'v.updates' },
    // 8 is insert, 4 update and 16 delete: without the last two, no column of the view counts as updatable. Of a trigger, 64 is instead of,
    // 4 insert and 16 update; of a rule, 3 is insert and 2 update.
    from: `relation r
      cross join lateral (select pg_catalog.pg_relation_is_updatable(r.oid, false) as events) e
      cross join lateral (
        select e.events & 8 <> 0 and not ${isReplaced(68, 3)} as inserts, e.events & 4 <> 0 and not ${isReplaced(80, 2)} as updates
      ) v
      join pg_catalog.pg_attribute a on a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped
      where r.relkind = 'v' and (v.inserts or v.updates) and e.events & 20 = 20 and not pg_catalog.pg_column_is_updatable(r.oid, a.attnum, false)`,
    orderBy: 'r.oid, a.attnum',
  },
  partitions: {
    members: { id: 'r.oid::int8', rootId: 'pg_catalog.pg_partition_root(r.oid)::oid::int8' },
    from: 'relation r join pg_catalog.pg_class c on c.oid = r.oid where c.relispartition',
  },
  quotedNames: {
    members: { name: 'n.name', quoted: 'pg_catalog.quote_ident(n.name)' },
    from: `(
      select rolname as name from role
      union select nspname from schema
      union select s.nspname from function f join pg_catalog.pg_namespace s on s.oid = f.pronamespace
      union select relname from relation
      union select proname from function
      union select a.attname from relation r join pg_catalog.pg_attribute a on a.attrelid = r.oid where a.attnum > 0
      union select p.polname from relation r join pg_catalog.pg_policy p on p.polrelid = r.oid
    ) n where pg_catalog.quote_ident(n.name) <> n.name`,
  },
};

/** Its parameters are the role, and as JSON the ids of the exposed tables, of functions, and of the schemas that names are looked up in. */
export const safetyQuery = `
with recursive role as materialized (
  select r.oid, r.rolname, r.rolsuper or r.rolbypassrls as bypasses from pg_catalog.pg_roles r where r.rolname = $1::text
),
schema as materialized (
  select n.oid, n.nspname, n.nspowner, n.nspacl
  from pg_catalog.json_array_elements_text($2::json -> 'schemas') s(id)
  join pg_catalog.pg_namespace n on n.oid = s.id::oid
),
relation as materialized (
  select c.oid, c.relnamespace, c.relname, c.relkind, c.relowner, c.relrowsecurity, c.relforcerowsecurity, c.relacl
  from pg_catalog.json_array_elements_text($2::json -> 'tables') t(id)
  join pg_catalog.pg_class c on c.oid = t.id::oid
),
function as materialized (
  select p.*
  from pg_catalog.json_array_elements_text($2::json -> 'functions') f(id)
  join pg_catalog.pg_proc p on p.oid = f.id::oid
),
-- The roles whose privileges the role has.
grantee as materialized (
  select 0::oid as oid, 'public' as name
  union all
  select o.oid, pg_catalog.quote_ident(o.rolname) from role r, pg_catalog.pg_roles o where pg_catalog.pg_has_role(r.oid, o.oid, 'USAGE')
),
relation_grant as materialized (
  select a.id, pg_catalog.json_agg(distinct g.name) as grantees
  from (
    select r.oid as id, acl.grantee, acl.privilege_type
    from relation r, pg_catalog.aclexplode(coalesce(r.relacl, pg_catalog.acldefault('r', r.relowner))) acl
    union all
    select t.attrelid, acl.grantee, acl.privilege_type
    from relation r
    join pg_catalog.pg_attribute t on t.attrelid = r.oid and t.attacl is not null,
      pg_catalog.aclexplode(t.attacl) acl
  ) a
  join grantee g on g.oid = a.grantee
  where a.privilege_type in ('SELECT', 'INSERT', 'UPDATE', 'DELETE')
  group by a.id
),
policy as materialized (
  select p.polrelid, pg_catalog.json_agg(pg_catalog.json_build_object(
    'name', p.polname,
    'command', case p.polcmd when 'r' then 'select' when 'a' then 'insert' when 'w' then 'update' when 'd' then 'delete' else 'all' end,
    'permissive', p.polpermissive,
    'applies', exists (select from grantee g where g.oid = any (p.polroles)),
    'using', pg_catalog.pg_get_expr(p.polqual, p.polrelid),
    'check', pg_catalog.pg_get_expr(p.polwithcheck, p.polrelid)
  ) order by p.polname) as policies
  from pg_catalog.pg_policy p
  where p.polrelid in (select r.oid from relation r)
  group by p.polrelid
),
-- The relations that each view selects from.
selects_from as materialized (
  select distinct w.ev_class as view, d.refobjid as relation
  from pg_catalog.pg_rewrite w
  join pg_catalog.pg_depend d on d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass and d.objid = w.oid
  where w.ev_type = '1' and d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass and d.refobjid <> w.ev_class
),
-- The views that reading an exposed view passes through, and the materialized view that they fill, or 0.
through(view, oid, filled) as (
  select r.oid, r.oid, case r.relkind when 'm' then r.oid else 0::oid end from relation r where r.relkind in ('v', 'm')
  union
  select t.view, c.oid, case c.relkind when 'm' then c.oid else t.filled end
  from through t
  join selects_from f on f.view = t.oid
  join pg_catalog.pg_class c on c.oid = f.relation and c.relkind in ('v', 'm')
),
-- A view reads with the privileges of its owner. A security invoker view reads with those of the caller, or of the owner of the
-- materialized view that it fills.
bypass as materialized (
  select distinct t.view, s.oid as through, pg_catalog.quote_ident(sn.nspname) || '.' || pg_catalog.quote_ident(s.relname) as name,
    s.relkind = 'm' as materialized, o.rolname as owner, n.nspname || '.' || c.relname as base
  from through t
  join pg_catalog.pg_class v on v.oid = t.oid
  join pg_catalog.pg_class s on s.oid = case t.filled when 0 then t.oid else t.filled end
  join pg_catalog.pg_namespace sn on sn.oid = s.relnamespace
  join selects_from f on f.view = v.oid
  join pg_catalog.pg_class c on c.oid = f.relation and c.relrowsecurity
  join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  join pg_catalog.pg_roles o on o.oid = case
    when not exists (
      select from pg_catalog.pg_options_to_table(v.reloptions) p where p.option_name = 'security_invoker' and p.option_value::bool
    ) then v.relowner
    when t.filled <> 0 then s.relowner
  end
  where o.rolsuper or o.rolbypassrls or (not c.relforcerowsecurity and pg_catalog.pg_has_role(o.oid, c.relowner, 'USAGE'))
)
${selectLists(safetyLists)}`;
