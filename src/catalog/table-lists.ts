/** What the catalogs say of tables: their columns, indexes and foreign keys. The sets that it selects from are those of `catalogQuery`. */
import type { Lists } from './lists.ts';
import type { RawCatalog } from './raw-catalog.ts';
import { roleIndependentTables } from './role-independence.ts';
import { attributeMembers } from './type-lists.ts';

export const tableLists = {
  tables: {
    members: {
      id: 'r.oid::int8',
      schemaId: 'r.relnamespace::int8',
      name: 'r.relname',
      kind: 'r.relkind',
      rowSecurity: 'r.relrowsecurity',
      hasChildren: `r.relkind = 'r' and r.relhassubclass`,
      // NOT NULL is not reliable on foreign tables, where only their servers could enforce it, or for child tables, which may drop it.
      keepsNotNull: `r.relkind = 'r' and not r.relhassubclass or r.relkind = 'p' and not (
        select pg_catalog.count(*) > 0 from pg_catalog.pg_inherits i join pg_catalog.pg_class c on c.oid = i.inhrelid where c.relkind = 'f'
      )`,
      // The function fails if the foreign data wrapper has no handler.
      writable: `case
        when r.relkind in ('r', 'p') then 28
        when r.relkind = 'v' then pg_catalog.pg_relation_is_updatable(r.oid, true)
        when r.relkind = 'f' and (r.oid in (
          select f.ftrelid
          from pg_catalog.pg_foreign_table f
          join pg_catalog.pg_foreign_server v on v.oid = f.ftserver
          join pg_catalog.pg_foreign_data_wrapper w on w.oid = v.srvfdw
          where w.fdwhandler <> 0
        )) is true then pg_catalog.pg_relation_is_updatable(r.oid, true)
        else 0
      end`,
      // 7: row-level, before, insert. Such a trigger, like a rule, may fill in a column.
      fillsColumns: `r.relkind not in ('r', 'p') or r.relhasrules or (r.oid in (
        select t.tgrelid from pg_catalog.pg_trigger t where t.tgtype & 7 = 7
      )) is true`,
      // 6: statement-level, before, insert; 64: instead of it.
      runsBeforeInsert: '(r.oid in (select t.tgrelid from pg_catalog.pg_trigger t where t.tgtype & 71 = 6)) is true',
    },
    from: 'relation r',
    orderBy: 'r.oid',
  },
  roleIndependent: { members: { id: 'i.oid::int8' }, from: `(${roleIndependentTables}) i` },
  columns: {
    members: {
      ...attributeMembers,
      notNull: 'a.attnotnull',
      automatic: 'a.automatic',
      generatedAlways: 'a.generated_always',
      hasDefault: `a.atthasdef or (a.atttypid in (
        select t.oid from pg_catalog.pg_type t where t.typtype = 'd' and t.typdefault is not null
      )) is true`,
      fullDomain: '(a.atttypid in (select d.oid from full_domain d)) is true',
      collationId: 'a.attcollation::int8',
    },
    from: 'attribute a',
    orderBy: 'a.attrelid, a.attnum',
  },
  collations: {
    members: { id: 'c.oid::int8', sql: `pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(c.collname)` },
    from: `pg_catalog.pg_collation c
      join pg_catalog.pg_namespace n on n.oid = c.collnamespace
      where (c.oid in (select a.attcollation from attribute a)) is true`,
  },
  sequences: {
    members: { tableId: 'd.refobjid::int8', number: 'd.refobjsubid' },
    from: `pg_catalog.pg_depend d
      where d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass and d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
        and d.refobjsubid > 0 and d.deptype in ('a', 'i')
        and (d.objid in (select s.oid from pg_catalog.pg_class s where s.relkind = 'S')) is true
        and (d.refobjid in (select r.oid from relation r)) is true`,
  },
  unproven: {
    members: { tableId: 'u.table_id::int8', number: 'u.number' },
    from: `(
        select k.conrelid as table_id, k.conkey[1] as number
        from pg_catalog.pg_constraint k
        where k.contype = 'n' and not k.convalidated and (k.conrelid in (select r.oid from relation r)) is true
        union all
        select h.parent, p.attnum
        from heir h
        join pg_catalog.pg_attribute c on c.attrelid = h.child and c.attnum > 0 and not c.attnotnull
        join pg_catalog.pg_attribute p on p.attrelid = h.parent and p.attname = c.attname and p.attnotnull
      ) u`,
  },
  indexes: {
    members: {
      tableId: 'i.indrelid::int8',
      primary: 'i.indisprimary',
      unique: 'i.indisunique and i.indexprs is null',
      immediate: 'i.indimmediate',
      keyCount: 'i.indnkeyatts',
      columns: 'i.indkey::pg_catalog.int2[]',
      // Only for a B-tree whose first key is in the order of "<"; pattern operator classes use another order.
      movesNulls: `case when i.indclass[0] in (
        select o.oid from pg_catalog.pg_opclass o where o.opcmethod = 403 and o.opcname not like '%pattern_ops'
      ) then i.indoption[0] in (1, 2) end`,
    },
    from: `pg_catalog.pg_index i where (i.indrelid in (select r.oid from relation r)) is true and i.indisvalid and i.indpred is null`,
    orderBy: 'i.indexrelid',
  },
  distanceIndexes: {
    members: { tableId: 'i.indrelid::int8', number: 'i.indkey[0]', method: 'm.amname', operatorClass: 'o.opcname' },
    from: `pg_catalog.pg_index i join pg_catalog.pg_opclass o on o.oid = i.indclass[0] join pg_catalog.pg_am m on m.oid = o.opcmethod
      where (i.indclass[0] in (
        select v.oid from pg_catalog.pg_opclass v
        where v.opcfamily in (select p.amopfamily from pg_catalog.pg_amop p where p.amoppurpose = 'o')
      )) is true and (i.indrelid in (select r.oid from relation r)) is true and i.indisvalid and i.indkey[0] > 0`,
    orderBy: 'i.indexrelid',
  },
  uniqueIndexes: {
    members: {
      tableId: 'u.table_id::int8',
      id: 'u.id::int8',
      immediate: 'u.immediate',
      keyCount: 'u.key_count',
      columns: 'u.indkey::pg_catalog.int2[]',
    },
    from: 'unique_index u',
    orderBy: 'u.id',
  },
  uniqueIndexKinds: {
    members: {
      id: 'u.id::int8',
      collations: 'u.indcollation::pg_catalog.oid[]::int8[]',
      classes: 'u.indclass::pg_catalog.oid[]::int8[]',
    },
    from: 'unique_index u where (u.table_id in (select m.table_id from unique_index m where not m.is_constraint)) is true',
  },
  uniqueIndexDefinitions: {
    members: {
      id: 'd.id::int8',
      elements: 'd.elements',
      condition: 'd.condition',
      nodes: 'd.nodes',
      nullsNotDistinct: 'd.nulls_not_distinct',
    },
    from: 'index_definition d',
    after: 'restored_search_path',
  },
  uniqueIndexNames: {
    members: { id: 'c.oid::int8', name: 'c.relname' },
    from: `pg_catalog.pg_class c where c.relkind in ('i', 'I') and (c.oid in (select u.id from unique_index u)) is true`,
  },
  foreignKeys: {
    members: {
      id: 'k.oid::int8',
      name: 'k.conname',
      tableId: 'k.conrelid::int8',
      columns: 'k.conkey',
      targetId: 'k.confrelid::int8',
      targetColumns: 'k.confkey',
      validated: 'k.convalidated',
      parentId: 'k.conparentid::int8',
    },
    from: 'foreign_key k',
    orderBy: 'k.oid',
  },
  targets: {
    members: { id: 'c.oid::int8', schemaId: 'c.relnamespace::int8', name: 'c.relname' },
    from: `pg_catalog.pg_class c
      where (c.oid in (select k.confrelid from foreign_key k)) is true and (c.oid in (select r.oid from relation r)) is not true`,
  },
  // How PostgreSQL fills in columns of type tsvector (3614): `to_tsvector('english'::regconfig, …)`, or the arguments of the trigger
  // tsvector_update_trigger, which are texts that end with zero bytes.
  searchVectors: {
    members: { tableId: 's.table_id::int8', number: 's.number', config: 's.config' },
    from: `(
        select a.attrelid as table_id, a.attnum as number,
          pg_catalog.substring(pg_catalog.pg_get_expr(x.adbin, x.adrelid), $$to_tsvector\\('([^']*)'::$$) as config
        from attribute a join pg_catalog.pg_attrdef x on x.adrelid = a.attrelid and x.adnum = a.attnum
        where a.atttypid = 3614
        union all
        select a.attrelid, a.attnum, g.arguments[2]
        from pg_catalog.pg_trigger t
        join pg_catalog.pg_proc p on p.oid = t.tgfoid and p.proname = 'tsvector_update_trigger' and p.pronamespace = 'pg_catalog'::pg_catalog.regnamespace
        cross join pg_catalog.regexp_split_to_array(pg_catalog.encode(t.tgargs, 'escape'), $$\\\\000$$) g(arguments)
        join attribute a on a.attrelid = t.tgrelid and a.attname = g.arguments[1] and a.atttypid = 3614
      ) s where s.config is not null`,
  },
} as const satisfies Partial<Lists<RawCatalog>>;
