/**
 * Changes of the catalogs that decide about answers and that the watch of the schema does not see, because they are of relations that are
 * not exposed, or of what is stored: privileges behind views and functions, partitions that are attached, tables that are rewritten,
 * materialized views that are refreshed. Of roles, and of rows that came and went, `SchemaWatch` tells.
 */
import type { RequestDatabase } from '../database/database.ts';

const timeoutMillis = 10_000;

/**
 * For each relation, what it is, and its row and file, which are others also after a change that was undone (positions of rows as in
 * `freshness/fingerprint.ts`).
 */
const stateQuery = `
with relation as materialized (select t.id::oid as id from pg_catalog.json_array_elements_text($1::json) t(id))
select c.oid::text,
  pg_catalog.concat_ws(' ', c.relowner, c.relacl, c.relrowsecurity, c.relforcerowsecurity, c.relkind, c.relhassubclass, c.relispartition,
    (select pg_catalog.bit_xor(pg_catalog.hashtidextended(a.ctid, a.xmin::text::int8))
      from pg_catalog.pg_attribute a where a.attrelid = c.oid and a.attnum > 0),
    (select pg_catalog.bit_xor(pg_catalog.hashtidextended(i.ctid, i.xmin::text::int8)) from pg_catalog.pg_inherits i where i.inhparent = c.oid)
  ), pg_catalog.concat_ws(' ', c.relfilenode, c.ctid, c.xmin)
from pg_catalog.pg_class c where c.oid = any (array(select r.id from relation r))`;

/** What is another one than when it was last asked. */
interface CatalogChange {
  /** Whether what the relations are, or who may read which rows of them, may have changed. */
  readonly isOfDefinitions: boolean;
  /** The relations that have other files or rows in the catalog, or have not been asked about before. */
  readonly relations: ReadonlySet<number>;
}

export class CatalogWatch {
  readonly #database: RequestDatabase;
  #known = new Map<number, { readonly definition: string; readonly file: string | null }>();

  constructor(database: RequestDatabase) {
    this.#database = database;
  }

  /** Compares the catalogs with what they were. Rejects if they cannot be read. */
  async compare(relations: Iterable<number>): Promise<CatalogChange> {
    const rows = await this.#database.query(stateQuery, [JSON.stringify([...relations])], { timeoutMillis });
    const before = this.#known;
    const now = new Map(rows.map(([id, definition, file]) => [Number(id), { definition: definition ?? '', file: file ?? null }] as const));
    this.#known = now;
    const changed = new Set<number>();
    let isOfDefinitions = false;
    for (const [id, { definition, file }] of now) {
      const known = before.get(id);
      if (known === undefined || known.file !== file) changed.add(id);
      if (known !== undefined && known.definition !== definition) isOfDefinitions = true;
    }
    return { isOfDefinitions, relations: changed };
  }
}
