/**
 * The query for everything that keys and relations of views are inferred from: their definitions, those of the views that they read, and
 * the unique indexes and foreign keys of the underlying tables. Its parameter is a list of view ids as JSON. It runs on PostgreSQL 14 to 18
 * with any search path.
 */
import { type Lists, selectLists } from '../lists.ts';
import type { RawCatalog } from '../raw-catalog.ts';
import { tableLists } from '../table-lists.ts';

/** Views with larger definitions, in bytes, are not analyzed. */
const maxDefinitionBytes = 4_000_000;

/**
 * Selects the ids of everything that views read, directly or through other views. `views` selects the ids of the views. Leaves out
 * PostgreSQL's own objects, which have lower ids and are irrelevant. Indexes of both catalogs find the rows.
 */
export function relationsOfViews(views: string): string {
  return `
  with recursive source(id) as (
    ${views}
    union
    select d.refobjid
    from source s
    join pg_catalog.pg_rewrite w on w.ev_class = s.id and w.ev_type = '1'
    join pg_catalog.pg_depend d on d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass and d.objid = w.oid
      and d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass and d.refobjid >= 16384
  )
  select s.id from source s`;
}

export interface RawViews {
  readonly relations: readonly { readonly id: number; readonly kind: string; readonly hasChildren: boolean; readonly schemaId: number }[];
  readonly notNull: readonly { readonly tableId: number; readonly column: number }[];
  /** The views' queries as PostgreSQL stores them. */
  readonly definitions: readonly { readonly viewId: number; readonly tree: string }[];
  readonly indexes: readonly {
    readonly tableId: number;
    readonly primary: boolean;
    readonly keyCount: number;
    readonly columns: readonly number[];
    readonly classes: readonly number[];
    readonly collations: readonly number[];
  }[];
  readonly foreignKeys: RawCatalog['foreignKeys'];
  /** For B-trees: the family and type of each operator class, and the equality operators of each family. */
  readonly families: readonly {
    readonly operatorClass: number;
    readonly family: number;
    readonly type: number;
    readonly isDefault: boolean;
  }[];
  readonly equalities: readonly { readonly operator: number; readonly family: number }[];
  /** B-tree families in which equal values are the same bytes, unless their collation is nondeterministic (support function equalimage). */
  readonly exactFamilies: readonly { readonly id: number }[];
  readonly looseCollations: readonly { readonly id: number }[];
  /** Domains with the type that they are over, and enums with `anyenum`. */
  readonly ownTypes: readonly { readonly id: number; readonly kind: 'd' | 'e'; readonly baseId: number }[];
  /** PostgreSQL's own functions whose result is not that of their arguments: it is random, or depends on time, settings or the order of rows. */
  readonly volatileFunctions: readonly { readonly id: number }[];
}

const isRead = (id: string): string => `(${id} in (select s.id from source s)) is true`;

export const viewLists: Lists<RawViews> = {
  relations: {
    members: {
      id: 'c.oid::int8',
      kind: 'c.relkind',
      hasChildren: "c.relkind = 'r' and c.relhassubclass",
      schemaId: 'c.relnamespace::int8',
    },
    from: `pg_catalog.pg_class c where ${isRead('c.oid')} and c.relkind in ('r', 'p', 'v', 'm')`,
  },
  // As in the introspection query, NOT NULL is not reliable if a partition may be a foreign table, or if the constraint is not validated.
  notNull: {
    members: { tableId: 'a.attrelid::int8', column: 'a.attnum' },
    from: `pg_catalog.pg_attribute a
      where a.attnotnull and a.attnum > 0 and not a.attisdropped
        and (a.attrelid in (
          select c.oid
          from pg_catalog.pg_class c
          where ${isRead('c.oid')} and (c.relkind = 'r' or c.relkind = 'p' and not (
            select pg_catalog.count(*) > 0 from pg_catalog.pg_inherits i join pg_catalog.pg_class f on f.oid = i.inhrelid where f.relkind = 'f'
          ))
        )) is true
        and ((a.attrelid, a.attnum) in (
          select k.conrelid, k.conkey[1] from pg_catalog.pg_constraint k where k.contype = 'n' and not k.convalidated
        )) is not true`,
  },
  definitions: {
    members: { viewId: 'w.ev_class::int8', tree: 'w.ev_action::text' },
    from: `pg_catalog.pg_rewrite w
      where w.ev_type = '1' and ${isRead('w.ev_class')} and pg_catalog.octet_length(w.ev_action::text) <= ${maxDefinitionBytes}`,
  },
  indexes: {
    members: {
      tableId: 'i.indrelid::int8',
      primary: 'i.indisprimary',
      keyCount: 'i.indnkeyatts',
      columns: 'i.indkey::pg_catalog.int2[]',
      classes: 'i.indclass::pg_catalog.oid[]::int8[]',
      collations: 'i.indcollation::pg_catalog.oid[]::int8[]',
    },
    from: `pg_catalog.pg_index i
      where ${isRead('i.indrelid')} and i.indisunique and i.indimmediate and i.indisvalid and i.indpred is null and i.indexprs is null`,
    orderBy: 'i.indexrelid',
  },
  foreignKeys: {
    members: tableLists.foreignKeys.members,
    // Temporal keys (PERIOD) are not relations.
    from: `pg_catalog.pg_constraint k
      where k.contype = 'f' and ${isRead('k.conrelid')}
        and (select c.relam from pg_catalog.pg_class c where c.oid = k.conindid) = 403`,
    orderBy: 'k.oid',
  },
  families: {
    members: { operatorClass: 'o.oid::int8', family: 'o.opcfamily::int8', type: 'o.opcintype::int8', isDefault: 'o.opcdefault' },
    from: 'pg_catalog.pg_opclass o where o.opcmethod = 403',
  },
  equalities: {
    members: { operator: 'a.amopopr::int8', family: 'a.amopfamily::int8' },
    from: 'pg_catalog.pg_amop a where a.amopmethod = 403 and a.amopstrategy = 3',
  },
  exactFamilies: {
    members: { id: 'p.amprocfamily::int8' },
    from: `pg_catalog.pg_amproc p
      where p.amprocnum = 4 and (p.amprocfamily in (select f.oid from pg_catalog.pg_opfamily f where f.opfmethod = 403)) is true`,
  },
  ownTypes: {
    members: { id: 't.oid::int8', kind: 't.typtype', baseId: "case t.typtype when 'e' then 3500 else t.typbasetype::int8 end" },
    from: "pg_catalog.pg_type t where t.typtype in ('d', 'e')",
  },
  volatileFunctions: {
    members: { id: 'p.oid::int8' },
    from: `pg_catalog.pg_proc p
      where p.oid < 16384 and (
        p.provolatile = 'v'
        or p.provolatile = 's' and (p.pronargs = 0 or p.proname = 'age' and p.pronargs = 1 or p.proname = 'current_setting')
        or p.prokind = 'a' and p.proname not in ('count', 'min', 'max', 'sum', 'every', 'bool_and', 'bool_or', 'bit_and', 'bit_or', 'bit_xor')
      )`,
  },
  looseCollations: { members: { id: 'c.oid::int8' }, from: 'pg_catalog.pg_collation c where not c.collisdeterministic' },
};

export const viewQuery = `
with source as materialized (
  ${relationsOfViews('select v.id::pg_catalog.oid from pg_catalog.json_array_elements_text($1::json) v(id)')}
)
${selectLists(viewLists)}`;
