/** What PostgreSQL or the network reports, as fields; `from-postgres.ts` says what it means to a client. */

/**
 * Why a batch failed, unless PostgreSQL refused it. `overloaded`: no connection became free. `timeout`: its deadline has passed.
 * `cancelled`: nobody waits for it any more. `outcome-unknown`: the connection ended when the batch may have been committed.
 * `response-too-large`: its rows exceed the allowed bytes. `key-answered`: the response to this request is already stored under its
 * idempotency key. `key-reused`: the key was used for another request. `no-key-room`: what is stored for the caller's keys leaves no room
 * for another one; `no-key-storage`: what is stored for all keys does. `behind`: a standby has not replayed what the batch must see.
 * `refused-by-node`: a node of Citus does not accept the role.
 */
export type FailureReason =
  | 'stale-schema'
  | 'closed'
  | 'overloaded'
  | 'timeout'
  | 'cancelled'
  | 'outcome-unknown'
  | 'response-too-large'
  | 'key-answered'
  | 'key-reused'
  | 'no-key-room'
  | 'no-key-storage'
  | 'behind'
  | 'refused-by-node';

/** An error that PostgreSQL or the network reported: `sqlstate` has five characters, or is null if the connection failed. */
export class DatabaseError extends Error {
  readonly sqlstate: string | null;
  readonly reason: FailureReason | undefined;
  readonly detail: string | undefined;
  readonly hint: string | undefined;
  readonly constraint: string | undefined;
  readonly schema: string | undefined;
  readonly table: string | undefined;
  readonly column: string | undefined;
  /** The name of the domain whose constraint is violated. */
  readonly dataType: string | undefined;
  /**
   * What PostgreSQL was doing, innermost first, one line each: functions on its stack, the parameter that it was reading. In the server's
   * language.
   */
  readonly context: string | undefined;
  /** The C function in PostgreSQL's source that reported the error; never translated. */
  readonly routine: string | undefined;
  /** Which statement of the batch failed, from 0; null if that is unknown or none did, as in a failed commit. */
  statement: number | null = null;
  /** Whether Citus was to run the batch on its nodes. */
  onNodes = false;

  constructor(
    message: string,
    fields: {
      sqlstate: string | null;
      reason?: FailureReason;
      detail?: string;
      hint?: string;
      constraint?: string;
      schema?: string;
      table?: string;
      column?: string;
      dataType?: string;
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
    this.schema = fields.schema;
    this.table = fields.table;
    this.column = fields.column;
    this.dataType = fields.dataType;
    this.context = fields.context;
    this.routine = fields.routine;
  }
}
