/**
 * What rowgraph needs of a database, whichever it is: a pool of PostgreSQL connections (`pg-database.ts`), the embedded PGlite
 * (`pglite-database.ts`) or a connection of the caller (`client-database.ts`). Types only.
 */
import type { Deadline } from '../budget/deadline.ts';
import type { CacheStatistics, GraphStatistics } from '../events.ts';

/** One SQL statement with text parameters; its text is the key under which it is prepared. */
export interface Statement {
  readonly text: string;
  /** Values in PostgreSQL's text format; every placeholder is cast in the text. */
  readonly parameters: readonly (string | null)[];
}

/** What holds for one transaction only. */
export interface Session {
  readonly role: string;
  /** The claims of the token as JSON text: `request.jwt.claims`. */
  readonly claims: string;
  /** The value of `search_path`, quoted. */
  readonly searchPath: string;
  /** The schema version that the statements were compiled for; null if the database keeps none. */
  readonly version: string | null;
  /** What `application_name` is in the transaction; that of the connection if it is null or absent. */
  readonly applicationName?: string | null;
  /** The settings of the role from `alter role … set`. */
  readonly defaults?: RoleDefaults | undefined;
}

/** The settings that a session of a role begins with (https://www.postgresql.org/docs/current/sql-alterrole.html), as far as they hold for a transaction. */
export interface RoleDefaults {
  /** Milliseconds; null if nothing limits the time of a statement. */
  readonly statementTimeout: number | null;
  /** Null: that of the connection. */
  readonly isolation: string | null;
  /** Whether its transactions may write although those of the connection are read-only. */
  readonly mayWrite: boolean;
  /** Names and values of all others. */
  readonly settings: readonly (readonly [name: string, value: string])[];
}

/** Statements that run in one transaction: all or nothing, in one network round trip. */
export interface Batch {
  /** Null on a connection of the caller, which has its own role, claims and search path. */
  readonly session: Session | null;
  readonly statements: readonly Statement[];
  /** Runs ahead of the session, as the connection's own user: takes the idempotency key of a mutation. */
  readonly claim?: Statement | undefined;
  /**
   * What the batch was made from, if it only reads: batches of one template and role differ in claims and values alone, and those of roles with the same
   * prepared statements in the role besides, so that several may share a connection. One that fails in company runs again.
   */
  readonly template?: object | undefined;
  /**
   * Whose prepared statements it uses, if not those of its role alone: the name of all roles of equal settings that PostgreSQL parses and plans the
   * statements for in the same way. No role has such a name.
   */
  readonly preparedFor?: string | undefined;
  /** What the batch was made from, whether it reads or writes: batches of one origin take about the same time. */
  readonly origin?: object | undefined;
  /** How long it may wait and run. Without one, only the connection limits it. */
  readonly deadline?: Deadline | null | undefined;
  /** Whose share of the connections it uses. */
  readonly client?: string | undefined;
  /** Names of the tables and functions that it touches: one of them may be locked without blocking work on others. */
  readonly touches?: readonly string[] | undefined;
  /** Whether it calls functions, which may end their own connection: where PostgreSQL says that it ended that, a query is not sent again. */
  readonly callsFunctions?: boolean | undefined;
  /** Where to note when it is sent. */
  readonly marks?: { sent: number | null } | undefined;
  /** Maximum bytes in its rows. */
  readonly maxBytes?: number | undefined;
}

/** Bytes as a string, each a character (latin1): where they are few, a string costs less than a buffer. */
export interface ByteString {
  readonly latin1: string;
}

/** A value in PostgreSQL's text format: UTF-8 bytes where the driver can hand them on unread, text elsewhere. */
export type ColumnValue = readonly Buffer[] | ByteString | string | null;

/** The first row of each statement; an empty list where there was no row. */
export type BatchResult = readonly (readonly ColumnValue[])[];

/** Rows as lists of text. */
export type Rows = readonly (readonly (string | null)[])[];

/** Runs one statement on a connection, and resolves to its rows. */
export type RunStatement = (text: string, parameters?: readonly (string | null)[]) => Promise<Rows>;

/** What batches took, and what connections do now. */
export type DatabaseStatistics = Pick<GraphStatistics, 'pool' | 'batchSeconds' | 'batchBytes'>;

/** What requests need of a database. */
export interface RequestDatabase {
  /** Runs a batch. Rejects with `DatabaseError`; nothing is changed then. */
  run(batch: Batch): Promise<BatchResult>;
  /**
   * Runs one statement as the connection's own user, outside any batch, ahead of batches that wait. Rows as arrays of text. For the catalog.
   * It is cancelled after `timeoutMillis` (default: a minute). With `parameters`, even none, it only reads, and runs again if its connection is lost;
   * without, it is a script that runs once.
   */
  query(text: string, parameters?: readonly (string | null)[], timeoutMillis?: number): Promise<Rows>;
}

export interface Database extends RequestDatabase {
  /**
   * Runs work as a caller in a transaction that is always rolled back. It takes none of the connections of requests, and is not for requests. Each
   * statement is cancelled after `timeoutMillis`.
   */
  tryOut<Result>(session: Session, timeoutMillis: number, work: (run: RunStatement) => Promise<Result>): Promise<Result>;
  /** Calls back for each notification on a channel, and with null after a lost connection came back. Resolves to a function that stops it. */
  listen(channel: string, onNotification: (payload: string | null) => void): Promise<() => Promise<void>>;
  /** Statistics of the prepared statements of all connections. */
  readCaches(): readonly CacheStatistics[];
  readStatistics(): DatabaseStatistics;
  /** Closes what this object opened; the caller's pool or client stays open. */
  close(): Promise<void>;
}

/**
 * Why a batch failed, where it was not PostgreSQL that refused it. `overloaded`: no connection became free. `timeout`: its deadline has passed.
 * `cancelled`: nobody waits for it any more. `outcome-unknown`: the connection ended when it may have been committed. `response-too-large`: its rows
 * have more bytes than they may. `key-answered`: the idempotency key has the response to this request. `key-reused`: it has that to another.
 */
export type FailureReason =
  | 'overloaded'
  | 'timeout'
  | 'cancelled'
  | 'outcome-unknown'
  | 'response-too-large'
  | 'key-answered'
  | 'key-reused';

/** What PostgreSQL (or the network) said: a `sqlstate` of five characters, or null if the connection failed. */
export class DatabaseError extends Error {
  readonly sqlstate: string | null;
  readonly reason: FailureReason | undefined;
  readonly detail: string | undefined;
  readonly hint: string | undefined;
  readonly constraint: string | undefined;
  readonly table: string | undefined;
  readonly column: string | undefined;
  /** What PostgreSQL was doing, innermost first, a line each: functions on its stack, the parameter that it read. In the language of the server. */
  readonly context: string | undefined;
  /** The function of PostgreSQL's source that reported it, in no language. */
  readonly routine: string | undefined;
  /** Which statement of the batch failed, from 0; null where that is not known, or none did, as at the commit. */
  statement: number | null = null;

  constructor(
    message: string,
    fields: {
      sqlstate: string | null;
      reason?: FailureReason;
      detail?: string;
      hint?: string;
      constraint?: string;
      table?: string;
      column?: string;
      context?: string;
      routine?: string;
      cause?: unknown;
    },
  ) {
    super(message, { cause: fields.cause });
    this.name = 'DatabaseError';
    this.sqlstate = fields.sqlstate;
    this.reason = fields.reason;
    this.detail = fields.detail;
    this.hint = fields.hint;
    this.constraint = fields.constraint;
    this.table = fields.table;
    this.column = fields.column;
    this.context = fields.context;
    this.routine = fields.routine;
  }
}
