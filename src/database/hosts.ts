/**
 * The hosts of a connection URL, tried one after the other until a server is what `target_session_attrs` asks for
 * (https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNECT-TARGET-SESSION-ATTRS).
 */
import { hostOf, parseDatabaseUrl, type SessionAttributes } from '../settings/database-url.ts';
import { isServerError } from './to-database-error.ts';

/** What this file uses of a connected client of `pg`. */
interface ConnectedClient {
  query(config: { text: string; rowMode: 'array' }): Promise<{ readonly rows: readonly (readonly unknown[])[] }>;
  end(): Promise<unknown>;
}

const stateText = `select pg_catalog.pg_is_in_recovery()::text, pg_catalog.current_setting('default_transaction_read_only')`;

export class Hosts {
  readonly #urls: readonly string[];
  readonly #attributes: SessionAttributes;
  readonly #isBalanced: boolean;
  /** The index of the host that was found last: it is tried first. */
  #latest = 0;

  /**
   * Of several hosts, the primary is meant unless the URL says otherwise: whatever needs another server says so. Throws an `Error` if a
   * parameter of the URL is wrong.
   */
  constructor(url: string) {
    const { hosts, attributes, isBalanced } = parseDatabaseUrl(url);
    this.#urls = hosts;
    this.#attributes = attributes ?? (hosts.length > 1 ? 'primary' : 'any');
    this.#isBalanced = isBalanced;
  }

  /** The URL of the host that was found last. */
  get current(): string {
    return this.#urls[this.#latest]!;
  }

  /** Connects to the first host that fits. `open` connects to a URL. Rejects with what the hosts failed with. */
  async connect<Client extends ConnectedClient>(open: (url: string) => Promise<Client>): Promise<Client> {
    const failures: unknown[] = [];
    const wanted = this.#attributes === 'prefer-standby' ? (['standby', 'any'] as const) : [this.#attributes];
    for (const attributes of wanted) {
      for (const index of this.#order()) {
        try {
          const client = await open(this.#urls[index]!);
          if (attributes === 'any' || (await fits(client, attributes))) {
            this.#latest = index;
            return client;
          }
          void client.end().catch(() => undefined);
          failures.push(unfit(this.#urls[index]!, attributes));
        } catch (error) {
          failures.push(error);
        }
      }
    }
    throw failures.length === 1
      ? failures[0]
      : (failures.find(isServerError) ?? new AggregateError(failures, 'No host of the URL can be used'));
  }

  #order(): readonly number[] {
    const indexes = this.#urls.map((_, index) => index);
    if (this.#isBalanced) return randomOrder(indexes);
    return [...indexes.slice(this.#latest), ...indexes.slice(0, this.#latest)];
  }
}

function randomOrder(indexes: readonly number[]): readonly number[] {
  const drawn = indexes.map((index) => ({ index, at: Math.random() }));
  return drawn.toSorted((one, other) => one.at - other.at).map(({ index }) => index);
}

/** It has the state of a server that does not take connections now: after a failover, it may be what was asked for. */
function unfit(url: string, attributes: SessionAttributes): Error {
  const error = new Error(`${hostOf(url)} is not "${attributes}", which target_session_attrs asks for`);
  return Object.assign(error, { code: '57P03' });
}

/** Asks the server: poolers do not pass on what PostgreSQL reports of itself. */
async function fits(client: ConnectedClient, attributes: Exclude<SessionAttributes, 'any' | 'prefer-standby'>): Promise<boolean> {
  const { rows } = await client.query({ text: stateText, rowMode: 'array' });
  const [isStandby, isReadOnly] = [rows[0]?.[0] === 'true', rows[0]?.[1] === 'on'];
  switch (attributes) {
    case 'primary':
      return !isStandby;
    case 'standby':
      return isStandby;
    case 'read-write':
      return !isStandby && !isReadOnly;
    case 'read-only':
      return isStandby || isReadOnly;
  }
}
