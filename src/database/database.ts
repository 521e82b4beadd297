/**
 * What rowgraph needs of any database: a pool of PostgreSQL connections (`pg-database.ts`), the embedded PGlite (`pglite-database.ts`) or a
 * connection of the caller (`client-database.ts`). Types only.
 */
import type { Deadline } from '../budget/deadline.ts';
import type { CacheStatistics, GraphStatistics } from '../statistics.ts';

/** One SQL statement with text parameters; prepared statements are found by its text. */
export interface Statement {
  readonly text: string;
  /** Values in PostgreSQL's text format; every placeholder is cast in the text. */
  readonly parameters: readonly (string | null)[];
}

/** Settings that hold for one transaction only. */
export interface Session {
  readonly role: string;
  /** The claims of the token as JSON text: `request.jwt.claims`. */
  readonly claims: string;
  /** The value of `search_path`, quoted. */
  readonly searchPath: string;
  /** The schema version that the statements were compiled for; null if the database keeps none. */
  readonly version: string | null;
  /** What `application_name` is in the transaction; null or absent leaves the connection's own. */
  readonly applicationName?: string | null;
  /** The settings of the role from `alter role … set`. */
  readonly defaults?: RoleDefaults | undefined;
  /**
   * Whether the statements may see what the connection keeps of earlier callers: plans, for which PostgreSQL evaluated functions that may
   * read the claims, and the last values of sequences.
   */
  readonly discardsState?: boolean;
  /** Whether the statements may change the connection's session, which must be as before for the next caller. */
  readonly resetsConnection?: boolean;
  /** What tells SQL about the request besides the claims; each is set for every request of the session's role and schema. */
  readonly requestSettings?: readonly RequestSetting[] | undefined;
  /** Whether the transaction goes on in sessions of other nodes, which need the settings too. */
  readonly hasNodes?: boolean;
}

export type RequestSetting = readonly [name: string, value: string];

/**
 * The settings that a role's sessions begin with (https://www.postgresql.org/docs/current/sql-alterrole.html), as far as they can be set
 * for a single transaction.
 */
export interface RoleDefaults {
  /** Milliseconds; null if statements have no time limit. */
  readonly statementTimeout: number | null;
  /** Null for the connection's own. */
  readonly isolation: string | null;
  /** Whether its transactions may write although the connection's default is read-only. */
  readonly mayWrite: boolean;
  /** Names and values of all other settings. */
  readonly settings: readonly (readonly [name: string, value: string])[];
}

/**
 * A statement that runs as the connection's own user in a transaction of its own, once the batch has been committed, in the same network
 * round trip.
 */
export interface FollowUp {
  readonly statement: Statement;
  /** Called before the batch resolves, with its row; null if it failed. Not called if the batch fails. */
  readonly note: (row: readonly ColumnValue[] | null) => void;
}

/** Statements that run in one transaction: all or nothing, in one network round trip. */
export interface Batch {
  /** Null on a connection of the caller, which has its own role, claims and search path. */
  readonly session: Session | null;
  readonly statements: readonly Statement[];
  /**
   * Runs before the session statement, as the connection's own user: takes the idempotency key of a mutation, or checks that a standby has
   * replayed enough.
   */
  readonly precondition?: Statement | undefined;
  /** Not for batches that share their connection. */
  readonly followUp?: FollowUp | undefined;
  /**
   * What the batch was made from, if it only reads. Batches of one template and role differ only in claims and values, so they may share a
   * connection; so may batches of roles with the same `preparedFor`. A batch that fails while it shares a connection runs again.
   */
  readonly template?: object | undefined;
  /**
   * Owner of the prepared statements to use instead of the role: a name for all roles with equal settings for which PostgreSQL parses and
   * plans the statements in the same way. No role has such a name.
   */
  readonly preparedFor?: string | undefined;
  /** The owner of its prepared statements without `preparedFor`; absent, the role. */
  readonly statementOwner?: string | undefined;
  /** Whether prepared statements run with a generic plan unless the login role or the caller's role has its own `plan_cache_mode`. */
  readonly genericPlan?: boolean | undefined;
  /** What the batch was made from, whether it reads or writes: batches of one origin take about equally long. */
  readonly origin?: object | undefined;
  /** Limits how long it may wait and run. Without one, only the connection's own limits apply. */
  readonly deadline?: Deadline | null | undefined;
  /** The client whose share of the connections it uses. */
  readonly client?: string | undefined;
  /** Names of the tables and functions that it touches. If one of them is locked, work on others must not be blocked. */
  readonly touches?: readonly string[] | undefined;
  /** Whether it calls functions. These may end their own connection, so a query whose connection PostgreSQL ended is not sent again. */
  readonly callsFunctions?: boolean | undefined;
  /** Records when it is sent. */
  readonly marks?: { sent: number | null } | undefined;
  readonly maxBytes?: number | undefined;
}

/** Bytes as a string with one character per byte (latin1): for few bytes, a string costs less than a buffer. */
interface ByteString {
  readonly latin1: string;
}

/** A value in PostgreSQL's text format: UTF-8 bytes if the driver can pass them on undecoded, text otherwise. */
export type ColumnValue = readonly Buffer[] | ByteString | string | null;

/** The first row of each statement; an empty list for a statement without rows. */
export type BatchResult = readonly (readonly ColumnValue[])[];

/** Rows as lists of text. */
export type Rows = readonly (readonly (string | null)[])[];

/** How to run a query outside of batches. */
export interface QueryOptions {
  /** When it is cancelled. Default: one minute. */
  readonly timeoutMillis?: number;
  /** Whether it runs again and again: then it gets the connection on which the schema is watched, and is prepared. */
  readonly isRepeated?: boolean;
  /** Whether it is work for the server: of those that many processes send at once, a few run at a time. */
  readonly isHeavy?: boolean;
}

/** Runs one statement on a connection, and resolves to its rows. */
export type RunStatement = (text: string, parameters?: readonly (string | null)[]) => Promise<Rows>;

/** Statistics of batches, and the current state of the connections. */
export type DatabaseStatistics = Pick<GraphStatistics, 'pool' | 'batchSeconds' | 'batchBytes'>;

export interface RequestDatabase {
  /** Runs a batch. Rejects with `DatabaseError`; then nothing was changed. */
  run(batch: Batch): Promise<BatchResult>;
  /**
   * Runs one statement as the connection's own user, outside any batch and before waiting batches. Rows are arrays of text. For reading the
   * catalog. With `parameters`, even an empty list, it must only read, and runs again if its connection is lost; without, it is a script
   * that runs once.
   */
  query(text: string, parameters?: readonly (string | null)[], options?: QueryOptions): Promise<Rows>;
}

/** Opens connections apart from the pool. Each rejects with `DatabaseError`. */
export interface Sessions {
  connect(onNotification: OnNotification): Promise<DirectConnection>;
  /**
   * Opens a stream of the changes that are committed from now on. The server waits for all transactions that are running, so this may take
   * long; aborting gives it up.
   */
  replicate(publication: string, signal: AbortSignal, listener: StreamListener): Promise<ReplicationStream>;
}

export type OnNotification = (channel: string, payload: string) => void;

/**
 * A connection for what belongs to a session: notifications and advisory locks. It is not opened again if it is lost: then they are, too.
 */
export interface DirectConnection {
  /** Resolves when the connection has ended, for whatever reason. */
  readonly ended: Promise<void>;
  /** Whether another backend serves the connection than the one that accepted it: there is a pooler in between. */
  isPooled(backendId: number): boolean;
  /** Rows as lists of text. Queries run one after the other. Rejects with `DatabaseError`. */
  query(text: string, timeoutMillis?: number): Promise<Rows>;
  close(): Promise<void>;
}

/** What receives a replication stream. */
export interface StreamListener {
  /** A message of the output plugin, or its beginning. The bytes are overwritten once this returns. */
  message(bytes: Buffer, start: number, end: number, isWhole: boolean): void;
  /** All that has arrived so far has been passed on. */
  drained(): void;
  /** The server has written something to its log, whether it concerns the stream or not. */
  stirred(): void;
  /** The stream is over, but for `close()`. Called once. */
  ended(error: Error): void;
}

export interface ReplicationStream {
  /** For how long the server has sent nothing. */
  readonly silentMillis: number;
  /** Asks the server for a sign of life. */
  ask(): void;
  close(): void;
}

export interface Database extends RequestDatabase {
  /** Null if the database has a single session, as PGlite has. */
  readonly sessions: Sessions | null;
  /**
   * Runs work as a caller in a transaction that is always rolled back. Not for requests, and uses none of their connections. Each statement
   * is cancelled after `timeoutMillis`.
   */
  tryOut<Result>(session: Session, timeoutMillis: number, work: (run: RunStatement) => Promise<Result>): Promise<Result>;
  /**
   * Calls back for each notification on a channel, and with null after a lost connection was restored. Resolves to a function that stops
   * listening.
   */
  listen(channel: string, onNotification: (payload: string | null) => void): Promise<() => Promise<void>>;
  /** Statistics of the prepared statements of all connections. */
  readCaches(): readonly CacheStatistics[];
  readStatistics(): DatabaseStatistics;
  /** Closes what this object opened; the caller's pool or client stays open. */
  close(): Promise<void>;
}
