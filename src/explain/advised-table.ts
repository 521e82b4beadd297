/** What advice needs of tables: their size, columns, indexes and policies, loaded in one query; and how it writes an index and a number. */
import type { Database } from '../database/database.ts';

export interface AdvisedTable {
  /** The name of the table or, for a partition, of its root table: `public.note`, for messages. */
  readonly name: string;
  readonly sql: string;
  readonly isPartitioned: boolean;
  /** The approximate number of its own rows. */
  readonly rows: number;
  readonly columns: readonly AdvisedColumn[];
  readonly indexes: readonly AdvisedIndex[];
  /** The keys of GIN, GiST and SP-GiST indexes on all rows, as PostgreSQL deparses them. */
  readonly searchKeys: readonly string[];
  /** The policies that apply to the role; none if row level security does not. */
  readonly policies: readonly AdvisedPolicy[];
}

interface AdvisedColumn {
  readonly name: string;
  readonly sql: string;
  readonly isVarchar: boolean;
}

/** A valid B-tree or hash index on all rows, or on all but those where its first column is null. */
export interface AdvisedIndex {
  readonly name: string;
  readonly keys: readonly IndexKey[];
}

/** A key of an index, which can find rows that equal a value. */
interface IndexKey {
  /** The column as SQL; null for an expression, or if the index uses another collation than the column. */
  readonly column: string | null;
  /** As PostgreSQL deparses it; null for a column, or if the index uses another collation than the default. */
  readonly expression: string | null;
  readonly descending: boolean;
  readonly nullsFirst: boolean;
  /** Whether it is in the order of `<`, so that it serves ranges and sorts. */
  readonly isOrdered: boolean;
  readonly findsPrefixes: boolean;
  readonly findsNulls: boolean;
}

export interface AdvisedPolicy {
  readonly name: string;
  readonly sql: string;
  readonly command: 'r' | 'a' | 'w' | 'd' | '*';
  readonly using: string | null;
  readonly check: string | null;
  /** The stable and volatile functions that it calls, by the names that its conditions may use. */
  readonly functions: readonly { readonly name: string; readonly isVolatile: boolean }[];
}

/** A table's name as in PostgreSQL's plans, unquoted. */
export interface TableName {
  readonly schema: string;
  readonly name: string;
}

export type FindTable = (table: TableName) => AdvisedTable | undefined;

type RawTable = readonly [schema: string, name: string, table: AdvisedTable];

export async function loadAdvisedTables(database: Pick<Database, 'query'>, tables: readonly TableName[], role: string): Promise<FindTable> {
  const names = [...new Set(tables.map(({ schema, name }) => JSON.stringify([schema, name])))].sort();
  if (names.length === 0) return () => undefined;
  const [row] = await database.query(tablesQuery, [role, `[${names.join(',')}]`]);
  const byName = new Map(
    (JSON.parse(row?.[0] ?? '[]') as readonly RawTable[]).map(([schema, name, found]) => [JSON.stringify([schema, name]), found]),
  );
  return ({ schema, name }) => byName.get(JSON.stringify([schema, name]));
}

/** `keys`: `(a, b)`, or `using gin (a)`. `concurrently`, so that it does not block writes; partitioned tables do not support it. */
export function createIndex({ sql, isPartitioned }: AdvisedTable, keys: string): string {
  return `create index ${isPartitioned ? '' : 'concurrently '}on ${sql} ${keys};`;
}

export function written(count: number): string {
  return Math.round(count).toLocaleString('en-US');
}

const tablesQuery = `
with asked as (
  select n.nspname, c.relname, c.oid, coalesce(pg_catalog.pg_partition_root(c.oid)::oid, c.oid) as root,
    greatest(c.reltuples, pg_catalog.pg_stat_get_live_tuples(c.oid), 0)::float8 as rows
  from pg_catalog.json_array_elements($2::json) t(name)
  join pg_catalog.pg_namespace n on n.nspname = t.name ->> 0
  join pg_catalog.pg_class c on c.relnamespace = n.oid and c.relname = t.name ->> 1
  where c.relkind in ('r', 'p', 'm')
), this_database as (
  select d.datcollate in ('C', 'POSIX') and pg_catalog.to_json(d) ->> 'datlocprovider' is distinct from 'i' as collates_by_bytes
  from pg_catalog.pg_database d where d.datname = pg_catalog.current_database()
)
select coalesce(pg_catalog.json_agg(pg_catalog.json_build_array(a.nspname, a.relname, pg_catalog.json_build_object(
  'name', n.nspname || '.' || c.relname,
  'sql', pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(c.relname),
  'isPartitioned', c.relkind = 'p',
  'rows', a.rows,
  'columns', (
    select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object(
      'name', t.attname, 'sql', pg_catalog.quote_ident(t.attname), 'isVarchar', t.atttypid = 'pg_catalog.varchar'::pg_catalog.regtype
    ) order by t.attnum), '[]')
    from pg_catalog.pg_attribute t where t.attrelid = c.oid and t.attnum > 0 and not t.attisdropped
  ),
  'indexes', (
    select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object('name', x.relname, 'keys', (
      select pg_catalog.json_agg(pg_catalog.json_build_object(
        'column', pg_catalog.quote_ident(t.attname),
        'expression', case when i.indkey[k.position] = 0 and i.indcollation[k.position] in (0, 'pg_catalog."default"'::pg_catalog.regcollation)
          then pg_catalog.pg_get_indexdef(i.indexrelid, k.position + 1, false) end,
        'descending', i.indoption[k.position] & 1 = 1, 'nullsFirst', i.indoption[k.position] & 2 = 2,
        'isOrdered', f.less is not distinct from '<', 'findsPrefixes', f.less = '~<~' or f.less = '<' and (
          i.indcollation[k.position] in (select o.oid from pg_catalog.pg_collation o where o.collname in ('C', 'POSIX'))
          or i.indcollation[k.position] = 'pg_catalog."default"'::pg_catalog.regcollation and d.collates_by_bytes
        ), 'findsNulls', f.less is not null and i.indpred is null
      ) order by k.position)
      from pg_catalog.generate_series(0, i.indnkeyatts - 1) k(position)
      left join pg_catalog.pg_attribute t on t.attrelid = i.indrelid and t.attnum = i.indkey[k.position] and t.attnum > 0
        and t.attcollation = i.indcollation[k.position]
      left join lateral (
        select max(p.oprname) as less
        from pg_catalog.pg_opclass s
        join pg_catalog.pg_amop a on a.amopfamily = s.opcfamily and a.amopstrategy = 1 and a.amoplefttype = s.opcintype and m.amname = 'btree'
        join pg_catalog.pg_operator p on p.oid = a.amopopr
        where s.oid = i.indclass[k.position]
      ) f on true
    )) order by i.indexrelid), '[]')
    from pg_catalog.pg_index i
    join pg_catalog.pg_class x on x.oid = i.indexrelid
    join pg_catalog.pg_am m on m.oid = x.relam and m.amname in ('btree', 'hash')
    where i.indrelid = c.oid and i.indisvalid and (i.indpred is null or pg_catalog.pg_get_expr(i.indpred, i.indrelid) = (
      select '(' || pg_catalog.quote_ident(t.attname) || ' IS NOT NULL)'
      from pg_catalog.pg_attribute t where t.attrelid = i.indrelid and t.attnum = i.indkey[0]
    ))
  ),
  'searchKeys', (
    select coalesce(pg_catalog.json_agg(pg_catalog.pg_get_indexdef(i.indexrelid, k.position, true)), '[]')
    from pg_catalog.pg_index i
    join pg_catalog.pg_class x on x.oid = i.indexrelid
    join pg_catalog.pg_am m on m.oid = x.relam and m.amname in ('gin', 'gist', 'spgist', 'rum')
    cross join lateral pg_catalog.generate_series(1, i.indnkeyatts) k(position)
    where i.indrelid = c.oid and i.indisvalid and i.indpred is null
  ),
  'policies', (
    select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object(
      'name', p.polname, 'sql', pg_catalog.quote_ident(p.polname), 'command', p.polcmd,
      'using', pg_catalog.pg_get_expr(p.polqual, p.polrelid), 'check', pg_catalog.pg_get_expr(p.polwithcheck, p.polrelid),
      'functions', (
        select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object('name', f.name, 'isVolatile', f.volatile) order by f.name), '[]')
        from (
          select distinct v.name, r.provolatile = 'v' as volatile
          from pg_catalog.pg_depend d
          join pg_catalog.pg_proc r on r.oid = d.refobjid and r.provolatile <> 'i' and not r.proretset
          join pg_catalog.pg_namespace s on s.oid = r.pronamespace
          cross join lateral (values
            (pg_catalog.quote_ident(r.proname)), (pg_catalog.quote_ident(s.nspname) || '.' || pg_catalog.quote_ident(r.proname))
          ) v(name)
          where d.classid = 'pg_catalog.pg_policy'::pg_catalog.regclass and d.objid = p.oid
            and d.refclassid = 'pg_catalog.pg_proc'::pg_catalog.regclass
        ) f
      )
    ) order by p.polname), '[]')
    from pg_catalog.pg_policy p, pg_catalog.pg_roles o
    where p.polrelid = c.oid and o.rolname = $1::text and c.relrowsecurity and not (o.rolsuper or o.rolbypassrls)
      and (c.relforcerowsecurity or not pg_catalog.pg_has_role(o.oid, c.relowner, 'USAGE'))
      and exists (
        select from pg_catalog.unnest(p.polroles) g(oid) where g.oid = 0 or pg_catalog.pg_has_role(o.oid, nullif(g.oid, 0), 'USAGE')
      )
  )
)) order by a.nspname, a.relname), '[]')::text
from asked a
cross join this_database d
join pg_catalog.pg_class c on c.oid = a.root
join pg_catalog.pg_namespace n on n.oid = c.relnamespace`;
