/**
 * What of the replication stream matters here: which tables each transaction has changed. Rows are not decoded
 * (https://www.postgresql.org/docs/current/protocol-logicalrep-message-formats.html).
 */

/** Something of a transaction that has been committed; others may not see it yet. */
export interface Commit {
  /** The last 32 bits of its id. */
  readonly xid: number;
  /** By their id in `pg_class`; null for anything. */
  readonly tables: ReadonlySet<number> | null;
}

/** The prefix of messages with the id of a table that a statement has changed; `extension/live-scripts.ts` writes them. */
const prefix = Buffer.from('rowgraph\0');
const code = { begin: 0x42, commit: 0x43, insert: 0x49, update: 0x55, delete: 0x44, truncate: 0x54, message: 0x4d };
/** The most tables of a transaction that are told apart. */
const mostTables = 10_000;

/** How long a transaction may take to arrive before others count as held up, in milliseconds. */
const longTransaction = 500;

/**
 * Reads the messages of transactions, one after the other, as protocol version 1 sends them: each as a whole, after its commit. So a table is
 * known to have changed with its first row, however many are to come.
 */
export class PgoutputReader {
  readonly #onCommit: (commit: Commit) => void;
  #xid = 0;
  /** Those of the transaction that is arriving. */
  readonly #tables = new Set<number>();
  /** Those of them that have not been passed on. */
  #fresh = new Set<number>();
  #isAnything = false;
  /** The table of the last row: most rows of a transaction are of the same one as the row before. */
  #last = -1;
  /** When the transaction began to arrive, or was last found to be long; null between transactions. */
  #since: number | null = null;

  constructor(onCommit: (commit: Commit) => void) {
    this.#onCommit = onCommit;
  }

  /** `bytes` hold the beginning of a message, which may be cut. */
  read(bytes: Buffer, start: number, end: number, isWhole: boolean): void {
    switch (bytes[start]) {
      case code.insert:
      case code.update:
      case code.delete:
        return this.#note(bytes.readUInt32BE(start + 1));
      case code.begin:
        this.#xid = bytes.readUInt32BE(start + 17);
        this.#since = performance.now();
        return;
      case code.commit:
        return this.#end();
      case code.truncate:
        if (!isWhole) this.#isAnything = true;
        else for (let offset = start + 6; offset + 4 <= end; offset += 4) this.#note(bytes.readUInt32BE(offset));
        return;
      case code.message:
        return this.#readMessage(bytes.subarray(start, end));
      // Relations, types, origins.
      default:
    }
  }

  /** Passes on what is known of the transaction that is arriving. */
  flush(): void {
    if (this.#isAnything) this.#onCommit({ xid: this.#xid, tables: null });
    else if (this.#fresh.size > 0) this.#onCommit({ xid: this.#xid, tables: this.#fresh });
    else return;
    this.#isAnything = false;
    this.#fresh = new Set();
  }

  /** Whether a transaction has been arriving for long since this was last so; `now` is a time of `performance.now()`. */
  isHeldUp(now: number): boolean {
    if (this.#since === null || now - this.#since < longTransaction) return false;
    this.#since = now;
    return true;
  }

  #note(table: number): void {
    if (table === this.#last) return;
    this.#last = table;
    if (this.#tables.has(table)) return;
    if (this.#tables.size === mostTables) this.#isAnything = true;
    else this.#fresh.add(table);
    if (this.#tables.size < mostTables) this.#tables.add(table);
  }

  /** Flags, position, prefix, length, content: the id of a table. */
  #readMessage(message: Buffer): void {
    const length = 10 + prefix.length;
    if (!message.subarray(10, length).equals(prefix)) return;
    const table = Number(message.toString('latin1', length + 4));
    if (Number.isInteger(table) && table > 0) this.#note(table);
    else this.#isAnything = true;
  }

  #end(): void {
    this.flush();
    this.#tables.clear();
    this.#last = -1;
    this.#since = null;
  }
}
