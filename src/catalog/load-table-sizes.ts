/**
 * How many rows the tables of some schemas have, as PostgreSQL last counted or estimated them. Reads only what it keeps in the catalogs and
 * in its statistics: it takes no locks, so that it never waits for DDL.
 */
import type { RequestDatabase } from '../database/database.ts';

/**
 * `reltuples` is what the last VACUUM or ANALYZE counted, or -1; `pg_stat_get_live_tuples` follows each commit, but is lost in a crash. A
 * table includes its partitions and the tables that inherit from it, at any depth, and has no size if one of them is a foreign table.
 */
const sizesQuery = `
  with recursive part as (
    select c.oid as table_id, c.oid as id
    from pg_catalog.pg_class c
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    where c.relkind in ('r', 'p', 'm') and n.nspname in (select s.name from pg_catalog.json_array_elements_text($1::json) s(name))
    union
    select p.table_id, i.inhrelid from part p join pg_catalog.pg_inherits i on i.inhparent = p.id
  )
  select p.table_id::int8, pg_catalog.sum(
    case when c.relkind = 'p' then 0 else greatest(c.reltuples, pg_catalog.pg_stat_get_live_tuples(c.oid), 0) end
  )::int8
  from part p
  join pg_catalog.pg_class c on c.oid = p.id
  group by p.table_id
  having not pg_catalog.bool_or(c.relkind = 'f')`;

/** A server that takes longer is in trouble. */
const timeoutMillis = 10_000;

/** The rows of each table and materialized view, by its oid. Views and foreign tables have none. */
export async function loadTableSizes(database: RequestDatabase, schemas: readonly string[]): Promise<Map<number, number>> {
  const rows = await database.query(sizesQuery, [JSON.stringify(schemas)], { timeoutMillis });
  return new Map(rows.map(([id, size]) => [Number(id), Number(size)]));
}
