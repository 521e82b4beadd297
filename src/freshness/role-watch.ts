/**
 * Watches for roles that become privileged, apart from the schema: loading a schema may take longer than such a role may go unnoticed, and
 * PostgreSQL fires no event triggers for roles. In: a database; out: a call when roles or memberships have changed.
 */
import type { RequestDatabase } from '../database/database.ts';
import { changeMarker, watchQuery } from './fingerprint.ts';

const intervalMillis = 1000;

/** The roles are hashed only if a transaction has changed something since the marker. */
const rolesQuery = `select m.marker, case when m.marker is null or m.marker is distinct from $1::text then pg_catalog.concat_ws(' ',
  (select pg_catalog.bit_xor(pg_catalog.hashtextextended(pg_catalog.concat_ws(' ', r.oid, r.rolname, r.rolsuper), 0)) from pg_catalog.pg_roles r),
  (select pg_catalog.bit_xor(pg_catalog.hashtidextended(m.ctid, m.xmin::text::int8)) from pg_catalog.pg_auth_members m)
) end
from (select ${changeMarker} as marker) m`;

export class RoleWatch {
  readonly #database: RequestDatabase;
  readonly #onChange: () => Promise<void>;
  #marker: string | null = null;
  #hash: string | null = null;
  #timer: NodeJS.Timeout | null = null;
  #checking: Promise<void> = Promise.resolve();
  #isStopped = false;

  /** Begins to watch. `onChange` is called again after a second if it rejects. */
  constructor(database: RequestDatabase, onChange: () => Promise<void>) {
    this.#database = database;
    this.#onChange = onChange;
    this.#schedule();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    if (this.#timer) clearTimeout(this.#timer);
    await this.#checking;
  }

  #schedule(): void {
    if (this.#isStopped) return;
    this.#timer = setTimeout(() => {
      // If the database cannot be reached, the watch of the schema reports it, and nobody's requests run.
      this.#checking = this.#check()
        .catch(() => {})
        .then(() => this.#schedule());
    }, intervalMillis);
    this.#timer.unref();
  }

  async #check(): Promise<void> {
    const [row] = await this.#database.query(rolesQuery, [this.#marker], watchQuery);
    const [marker = null, hash = null] = row ?? [];
    if (hash !== null && hash !== this.#hash) await this.#onChange();
    this.#hash = hash ?? this.#hash;
    this.#marker = marker;
  }
}
