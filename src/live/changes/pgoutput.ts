/**
 * What of the replication stream matters here: which tables each transaction has changed. Rows are not decoded
 * (https://www.postgresql.org/docs/current/protocol-logicalrep-message-formats.html).
 */

/** A transaction that has been committed; others may not see it yet. */
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

/** Reads the messages of transactions, one after the other, as protocol version 1 sends them: each transaction as a whole. */
export class PgoutputReader {
  readonly #onCommit: (commit: Commit) => void;
  #xid = 0;
  #tables = new Set<number>();
  #isAnything = false;
  /** The table of the last row: most rows of a transaction are of the same one as the row before. */
  #last = -1;

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
        return;
      case code.commit:
        return this.#commit();
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

  #note(table: number): void {
    if (table === this.#last) return;
    this.#last = table;
    if (this.#tables.size < mostTables) this.#tables.add(table);
    else this.#isAnything = true;
  }

  /** Flags, position, prefix, length, content: the id of a table. */
  #readMessage(message: Buffer): void {
    const length = 10 + prefix.length;
    if (!message.subarray(10, length).equals(prefix)) return;
    const table = Number(message.toString('latin1', length + 4));
    if (Number.isInteger(table) && table > 0) this.#note(table);
    else this.#isAnything = true;
  }

  #commit(): void {
    const tables = this.#isAnything ? null : this.#tables;
    if (tables?.size !== 0) this.#onCommit({ xid: this.#xid, tables });
    this.#tables = new Set();
    this.#isAnything = false;
    this.#last = -1;
  }
}
