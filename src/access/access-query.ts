/** The query for what decides who may do what. It runs on PostgreSQL 14 to 18 with any search path, as any role: the catalogs are public. */
import type { RelationKind } from '../catalog/catalog.ts';
import { type Lists, selectLists } from '../catalog/lists.ts';
import type { RoleFacts, Verb } from './access.ts';

export interface RawRelation {
  readonly id: number;
  readonly schema: string;
  readonly name: string;
  /** As SQL: `public."Order"`. */
  readonly sql: string;
  readonly kind: RelationKind;
  readonly owner: string;
  readonly rowSecurity: boolean;
  readonly forced: boolean;
  /** Of a view, whether it reads with the privileges of its caller. */
  readonly isInvoker: boolean;
  /** The writes that it takes, over triggers and rules too: a view may take none. */
  readonly writes: readonly Verb[];
  /** The table that it is a partition of. */
  readonly partitionOf: string | null;
  readonly columns: readonly string[];
}

export interface RawGrant {
  readonly tableId: number;
  /** Null stands for `public`, all roles. */
  readonly grantee: string | null;
  readonly granteeSql: string;
  readonly privilege: string;
  readonly isGrantable: boolean;
  /** Null if it is for the whole table. */
  readonly column: string | null;
  readonly columnSql: string | null;
}

export interface RawPolicy {
  readonly tableId: number;
  readonly name: string;
  readonly nameSql: string;
  readonly command: Verb | 'all';
  readonly isPermissive: boolean;
  readonly roles: readonly string[];
  readonly rolesSql: string;
  readonly using: string | null;
  readonly check: string | null;
}

/** What a role may do with a relation, before row level security. */
export interface RawPrivileges {
  readonly tableId: number;
  readonly role: string;
  readonly hasSchema: boolean;
  readonly isOwner: boolean;
  /** For the whole table. */
  readonly verbs: readonly Verb[];
  /** For columns, of verbs that are not granted for the whole table. */
  readonly columns: Readonly<Partial<Record<Verb, readonly string[]>>>;
}

/** A relation that the definition of a view selects from. */
export interface RawSource {
  readonly viewId: number;
  readonly table: string;
  readonly rowSecurity: boolean;
  /** Whether the owner of the view sees all of its rows. */
  readonly ownerBypasses: boolean;
}

interface RawDefiner {
  readonly name: string;
  readonly owner: string;
  readonly ownerBypassesRowSecurity: boolean;
  readonly roles: readonly string[];
}

interface RawAccess {
  readonly roles: readonly RoleFacts[];
  readonly relations: readonly RawRelation[];
  readonly grants: readonly RawGrant[];
  readonly policies: readonly RawPolicy[];
  readonly privileges: readonly RawPrivileges[];
  readonly sources: readonly RawSource[];
  readonly definers: readonly RawDefiner[];
}

const namesOf = (items: string, name: string, order: string): string =>
  `(select coalesce(pg_catalog.json_agg(${name} order by ${order}), '[]') from ${items})`;

/** Columns with a privilege that the whole table does not have. */
const columnsWith = (verb: string): string => `case
  when pg_catalog.has_table_privilege(r.oid, t.oid, '${verb}') or not pg_catalog.has_any_column_privilege(r.oid, t.oid, '${verb}') then null
  else ${namesOf(
    `pg_catalog.pg_attribute a where a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped and pg_catalog.has_column_privilege(r.oid, t.oid, a.attnum, '${verb}')`,
    'a.attname',
    'a.attnum',
  )} end`;

export const accessLists: Lists<RawAccess> = {
  roles: {
    members: {
      name: 'r.rolname',
      isSuperuser: 'r.rolsuper',
      bypassesRowSecurity: 'r.rolsuper or r.rolbypassrls',
      // A superuser has those of all roles, which says nothing.
      inherits: `case when r.rolsuper then '[]' else ${namesOf(
        "pg_catalog.pg_roles o where o.oid <> r.oid and pg_catalog.pg_has_role(r.oid, o.oid, 'USAGE')",
        'o.rolname',
        'o.rolname',
      )} end`,
    },
    from: 'role r',
    orderBy: 'r.position, r.rolname',
  },
  relations: {
    members: {
      id: 't.oid::int8',
      schema: 't.nspname',
      name: 't.relname',
      sql: 't.sql',
      kind: 't.relkind',
      owner: 'pg_catalog.pg_get_userbyid(t.relowner)',
      rowSecurity: 't.relrowsecurity',
      forced: 't.relforcerowsecurity',
      isInvoker: `exists (
        select from pg_catalog.pg_options_to_table(t.reloptions) p where p.option_name = 'security_invoker' and p.option_value::bool
      )`,
      // Of the bits, 8 is insert, 4 update and 16 delete.
      writes: `(
        select coalesce(pg_catalog.json_agg(v.verb), '[]')
        from (values ('insert', 8), ('update', 4), ('delete', 16)) v(verb, bit)
        where t.relkind in ('r', 'p', 'f') or pg_catalog.pg_relation_is_updatable(t.oid, true) & v.bit <> 0
      )`,
      partitionOf: `(
        select pn.nspname || '.' || pc.relname
        from pg_catalog.pg_inherits i
        join pg_catalog.pg_class pc on pc.oid = i.inhparent
        join pg_catalog.pg_namespace pn on pn.oid = pc.relnamespace
        where t.relispartition and i.inhrelid = t.oid
      )`,
      columns: namesOf(
        'pg_catalog.pg_attribute a where a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped',
        'a.attname',
        'a.attnum',
      ),
    },
    from: 'relation t',
    orderBy: 't.nspname, t.relname',
  },
  grants: {
    members: {
      tableId: 'g.id::int8',
      grantee: 'o.rolname',
      granteeSql: "coalesce(pg_catalog.quote_ident(o.rolname), 'public')",
      privilege: 'pg_catalog.lower(g.privilege_type)',
      isGrantable: 'g.is_grantable',
      column: 'g.attname',
      columnSql: 'pg_catalog.quote_ident(g.attname)',
    },
    from: 'granted g left join pg_catalog.pg_roles o on o.oid = g.grantee',
    orderBy: 'g.grantee, g.privilege_type, g.attnum',
  },
  policies: {
    members: {
      tableId: 'p.polrelid::int8',
      name: 'p.polname',
      nameSql: 'pg_catalog.quote_ident(p.polname)',
      command: "case p.polcmd when 'r' then 'select' when 'a' then 'insert' when 'w' then 'update' when 'd' then 'delete' else 'all' end",
      isPermissive: 'p.polpermissive',
      roles:
        "(select pg_catalog.json_agg(coalesce(o.rolname, 'public') order by o.rolname) from pg_catalog.unnest(p.polroles) u(id) left join pg_catalog.pg_roles o on o.oid = u.id)",
      rolesSql:
        "(select pg_catalog.string_agg(coalesce(pg_catalog.quote_ident(o.rolname), 'public'), ', ' order by o.rolname) from pg_catalog.unnest(p.polroles) u(id) left join pg_catalog.pg_roles o on o.oid = u.id)",
      using: 'pg_catalog.pg_get_expr(p.polqual, p.polrelid, true)',
      check: 'pg_catalog.pg_get_expr(p.polwithcheck, p.polrelid, true)',
    },
    from: 'pg_catalog.pg_policy p where p.polrelid in (select t.oid from relation t)',
    orderBy: 'p.polrelid, p.polname',
  },
  privileges: {
    members: {
      tableId: 't.oid::int8',
      role: 'r.rolname',
      hasSchema: "pg_catalog.has_schema_privilege(r.oid, t.relnamespace, 'USAGE')",
      isOwner: "pg_catalog.pg_has_role(r.oid, t.relowner, 'USAGE')",
      verbs: `(
        select coalesce(pg_catalog.json_agg(pg_catalog.lower(v.verb)), '[]')
        from (values ('SELECT'), ('INSERT'), ('UPDATE'), ('DELETE')) v(verb)
        where pg_catalog.has_table_privilege(r.oid, t.oid, v.verb)
      )`,
      columns: `pg_catalog.json_strip_nulls(pg_catalog.json_build_object(
        'select', ${columnsWith('SELECT')}, 'insert', ${columnsWith('INSERT')}, 'update', ${columnsWith('UPDATE')}
      ))`,
    },
    from: 'relation t cross join role r',
    orderBy: 'r.position, r.rolname',
  },
  sources: {
    members: {
      viewId: 'v.oid::int8',
      table: "n.nspname || '.' || c.relname",
      rowSecurity: 'c.relrowsecurity',
      ownerBypasses: `o.rolsuper or o.rolbypassrls
        or (not c.relforcerowsecurity and pg_catalog.pg_has_role(o.oid, c.relowner, 'USAGE'))`,
    },
    from: `(
        select distinct w.ev_class, d.refobjid
        from pg_catalog.pg_rewrite w
        join pg_catalog.pg_depend d on d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass and d.objid = w.oid
        where w.ev_type = '1' and d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass and d.refobjid <> w.ev_class
      ) f
      join relation v on v.oid = f.ev_class and v.relkind in ('v', 'm')
      join pg_catalog.pg_class c on c.oid = f.refobjid
      join pg_catalog.pg_namespace n on n.oid = c.relnamespace
      join pg_catalog.pg_roles o on o.oid = v.relowner`,
    orderBy: 'v.oid, n.nspname, c.relname',
  },
  definers: {
    members: {
      name: "n.nspname || '.' || p.proname || '(' || pg_catalog.pg_get_function_identity_arguments(p.oid) || ')'",
      owner: 'o.rolname',
      ownerBypassesRowSecurity: 'o.rolsuper or o.rolbypassrls',
      roles: namesOf(
        "role r where pg_catalog.has_function_privilege(r.oid, p.oid, 'EXECUTE') and pg_catalog.has_schema_privilege(r.oid, n.oid, 'USAGE')",
        'r.rolname',
        'r.position, r.rolname',
      ),
    },
    from: `pg_catalog.pg_proc p
      join exposed n on n.oid = p.pronamespace
      join pg_catalog.pg_roles o on o.oid = p.proowner
      where p.prosecdef
        and p.prorettype not in ('pg_catalog.trigger'::pg_catalog.regtype, 'pg_catalog.event_trigger'::pg_catalog.regtype)`,
    orderBy: 'n.nspname, p.proname, p.oid',
  },
};

/**
 * Its parameter is JSON: the names of the `schemas`, of the `roles`, and of one `table` with or without its schema. Without `roles`, they are
 * those that a grant or policy names; without `table`, all tables.
 */
export const accessQuery = `
with exposed as materialized (
  select n.oid, n.nspname
  from pg_catalog.pg_namespace n
  where n.nspname in (select s.name from pg_catalog.json_array_elements_text($1::json -> 'schemas') s(name))
),
relation as materialized (
  select c.oid, c.relnamespace, c.relname, c.relkind, c.relowner, c.relrowsecurity, c.relforcerowsecurity, c.relacl, c.reloptions,
    c.relispartition, n.nspname, pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(c.relname) as sql
  from pg_catalog.pg_class c
  join exposed n on n.oid = c.relnamespace
  where c.relkind in ('r', 'p', 'v', 'm', 'f')
    and ($1::json ->> 'table' is null or $1::json ->> 'table' in (c.relname, n.nspname || '.' || c.relname))
),
granted as materialized (
  select t.oid as id, t.relowner, acl.grantee, acl.privilege_type, acl.is_grantable, null::name as attname, 0::int2 as attnum
  from relation t, pg_catalog.aclexplode(t.relacl) acl
  where acl.grantee <> t.relowner
  union all
  select t.oid, t.relowner, acl.grantee, acl.privilege_type, acl.is_grantable, a.attname, a.attnum
  from relation t
  join pg_catalog.pg_attribute a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped and a.attacl is not null,
    pg_catalog.aclexplode(a.attacl) acl
  where acl.grantee <> t.relowner
),
role as materialized (
  select r.oid, r.rolname, r.rolsuper, r.rolbypassrls, n.position
  from pg_catalog.json_array_elements_text($1::json -> 'roles') with ordinality n(name, position)
  join pg_catalog.pg_roles r on r.rolname = n.name
  union all
  select r.oid, r.rolname, r.rolsuper, r.rolbypassrls, 0
  from pg_catalog.pg_roles r
  where $1::json ->> 'roles' is null and not r.rolsuper and r.rolname !~ '^pg_' and r.oid in (
    select g.grantee from granted g
    union
    select t.relowner from relation t
    union
    select u.id from pg_catalog.pg_policy p join relation t on t.oid = p.polrelid, pg_catalog.unnest(p.polroles) u(id)
  )
)
${selectLists(accessLists)}`;
