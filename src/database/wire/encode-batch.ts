/**
 * Encodes a batch as protocol messages under a single Sync, which PostgreSQL runs as one implicit transaction
 * (https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-PIPELINING). Used for both pg and PGlite.
 * The messages (https://www.postgresql.org/docs/current/protocol-message-formats.html) are written into a single buffer, to be sent in one
 * write.
 */
import { DatabaseError } from '../../errors/database-error.ts';
import type { Batch, Statement } from '../database.ts';
import { nodeStatements } from '../node-settings.ts';
import { leadingStatements, roleLimitOf, sessionStatement, sessionText, trailingStatements } from '../session-statement.ts';
import type { PreparedStatements } from './prepared-statements.ts';

const messageType = { bind: 0x42, close: 0x43, execute: 0x45, parse: 0x50, query: 0x51, sync: 0x53 };
const statementKind = 0x53;
/** Bind counts its values in 16 bits. */
const mostParameters = 65_535;

/**
 * In characters. A longer statement is not prepared by name: it hardly ever comes again, and each connection would keep its text and plan.
 */
const longestPrepared = 100_000;

/** The owner of statements that run as the login role. No role has this name. */
const everyRole = '';
/** In bytes. Batches share a block until the next one does not fit; a long one gets a block of its own. */
const blockLength = 64 * 1024;
/** In characters. Calling Node to encode a text costs more than a loop over this many characters. */
const shortText = 32;

/** Writes messages: begin a message, add its fields, end it. */
export class MessageWriter {
  #buffer: Buffer = Buffer.allocUnsafeSlow(blockLength);
  /** Where the bytes of the current call begin. Those before belong to earlier calls, and may not be sent yet. */
  #first = 0;
  /** Where they end. */
  #end = 0;
  /** Where the length of the current message belongs. */
  #start = 0;

  /** What `write` writes; of a call that throws, nothing. */
  encode(write: (writer: this) => void): Buffer {
    this.#end = this.#first;
    write(this);
    const encoded = this.#buffer.subarray(this.#first, this.#end);
    this.#first = this.#end;
    if (this.#buffer.length === blockLength) return encoded;
    // A copy, because the block has room for several times as much, and would live as long as the batch runs.
    this.#startBlock(Buffer.allocUnsafeSlow(blockLength));
    return Buffer.from(encoded);
  }

  /** Opens a message; `end` fills in its length. */
  begin(type: number): void {
    this.#ensure(5);
    this.#buffer[this.#end] = type;
    this.#start = this.#end + 1;
    this.#end += 5;
  }

  end(): void {
    this.#setInt32(this.#end - this.#start, this.#start);
  }

  byte(value: number): void {
    this.#ensure(1);
    this.#buffer[this.#end++] = value;
  }

  int16(value: number): void {
    this.#ensure(2);
    this.#buffer[this.#end++] = value >>> 8;
    this.#buffer[this.#end++] = value;
  }

  int32(value: number): void {
    this.#ensure(4);
    this.#setInt32(value, this.#end);
    this.#end += 4;
  }

  /** A string with a terminating zero byte. */
  terminated(text: string): void {
    this.#ensure(text.length * 3 + 1);
    this.#end += this.#write(text, this.#end);
    this.#buffer[this.#end++] = 0;
  }

  /** A value of Bind: the length of its text in bytes, then the text; -1 for null. */
  value(text: string | null): void {
    if (text === null) return this.int32(-1);
    this.#ensure(text.length * 3 + 4);
    const size = this.#write(text, this.#end + 4);
    this.#setInt32(size, this.#end);
    this.#end += size + 4;
  }

  /** Writes a text and returns its length in bytes. */
  #write(text: string, position: number): number {
    const buffer = this.#buffer;
    if (text.length > shortText) return buffer.write(text, position);
    for (let index = 0; index < text.length; index++) {
      const unit = text.charCodeAt(index);
      if (unit > 0x7f) return buffer.write(text, position);
      buffer[position + index] = unit;
    }
    return text.length;
  }

  #setInt32(value: number, position: number): void {
    const buffer = this.#buffer;
    buffer[position] = value >>> 24;
    buffer[position + 1] = value >>> 16;
    buffer[position + 2] = value >>> 8;
    buffer[position + 3] = value;
  }

  /** A UTF-16 unit takes at most three bytes of UTF-8, so reserving that much saves counting first. */
  #ensure(size: number): void {
    if (this.#end + size > this.#buffer.length) this.#moveOn(size);
  }

  /** Goes on in another block, for which the current call takes its bytes along. */
  #moveOn(size: number): void {
    const length = this.#end - this.#first;
    const needed = length + size;
    const block = Buffer.allocUnsafeSlow(needed <= blockLength / 2 ? blockLength : needed * 2);
    this.#buffer.copy(block, 0, this.#first, this.#end);
    this.#start -= this.#first;
    this.#startBlock(block);
    this.#end = length;
  }

  #startBlock(block: Buffer): void {
    this.#buffer = block;
    this.#first = 0;
    this.#end = 0;
  }
}

const writer = new MessageWriter();

/**
 * Encodes batches one after the other, each with a Sync of its own. What they parse is recorded in `prepared`, to be settled after the
 * reply; null prepares nothing by name. `hasTimers`: whether PostgreSQL can limit the time of statements.
 */
export function encodeBatches(batches: readonly Batch[], prepared: PreparedStatements | null, hasTimers = true): Buffer {
  for (const { statements } of batches) {
    for (const { parameters } of statements) {
      if (parameters.length > mostParameters) throw new DatabaseError(`More than ${mostParameters} parameters`, { sqlstate: '54000' });
    }
  }
  try {
    return writer.encode(() => {
      for (const batch of batches) writeBatch(batch, prepared, hasTimers);
    });
  } catch (error) {
    prepared?.discard();
    throw error;
  }
}

function writeBatch(batch: Batch, prepared: PreparedStatements | null, hasTimers: boolean): void {
  const { session, precondition, statements, followUp } = batch;
  // Before everything that PostgreSQL may refuse: after an error it skips the rest.
  if (prepared) for (const name of prepared.takeEvicted()) writeClose(name);
  let position = 0;
  if (session) {
    for (const leading of leadingStatements(session)) writeStatement(leading, everyRole, position++, null);
    if (precondition !== undefined) writeStatement(precondition, everyRole, position++, prepared);
    const genericPlan = prepared !== null && batch.genericPlan === true;
    const timeout = hasTimers ? timeoutOf(batch) : null;
    writeStatement(sessionStatement(session, timeout, genericPlan), everyRole, position++, prepared);
    for (const following of nodeStatements(session)) writeStatement(following, everyRole, position++, null);
  }
  const owner = ownerOf(batch);
  for (const statement of statements) writeStatement(statement, owner, position++, prepared);
  for (const trailing of trailingStatements(batch)) writeStatement(trailing, everyRole, position++, prepared);
  writeSync();
  if (followUp === undefined) return;
  writeStatement(followUp.statement, everyRole, position, prepared);
  writeSync();
}

/** What is left of the batch's time, in milliseconds, or its role's limit; null if there is none. */
function timeoutOf(batch: Batch): number | null {
  const left = Math.min(batch.deadline?.remaining ?? Infinity, roleLimitOf(batch));
  return left === Infinity ? null : Math.max(1, Math.ceil(left));
}

/** The owner of the prepared statements that a batch uses. */
export function ownerOf({ session, preparedFor, statementOwner }: Batch): string {
  return preparedFor ?? statementOwner ?? session?.role ?? everyRole;
}

/** Whether all statements of a batch are prepared already, so that it parses none. */
export function isPrepared(batch: Batch, prepared: PreparedStatements): boolean {
  const { session, precondition, statements, genericPlan = false } = batch;
  if (session !== null) {
    if (leadingStatements(session).length > 0 || session.resetsConnection === true || session.hasNodes === true) return false;
    if (!prepared.has(everyRole, sessionText(session, timeoutOf(batch) !== null, genericPlan))) return false;
  }
  if (precondition !== undefined && !prepared.has(everyRole, precondition.text)) return false;
  const owner = ownerOf(batch);
  return statements.every(({ text }) => prepared.has(owner, text));
}

/** Encodes a script of one or more statements without parameters for the simple protocol. */
export function encodeScript(text: string): Buffer {
  return writer.encode(() => {
    writer.begin(messageType.query);
    writer.terminated(text);
    writer.end();
  });
}

function writeStatement({ text, parameters }: Statement, owner: string, position: number, names: PreparedStatements | null): void {
  const prepared = text.length > longestPrepared ? null : names;
  let name = prepared?.find(owner, text);
  if (name === undefined) {
    name = prepared === null ? '' : prepared.add(owner, text, position);
    // After an error it is unknown whether the Parse succeeded. Closing a missing statement is not an error, but parsing a name twice is.
    if (name !== '') writeClose(name);
    writer.begin(messageType.parse);
    writer.terminated(name);
    // Some poolers find prepared statements by text alone: without its name, one role would run what another role parsed.
    writer.terminated(name === '' || owner === everyRole ? text : `${text} /* ${name} */`);
    writer.int16(0);
    writer.end();
  }
  writer.begin(messageType.bind);
  writer.byte(0);
  writer.terminated(name);
  writer.int16(0);
  writer.int16(parameters.length);
  for (let index = 0; index < parameters.length; index++) writer.value(parameters[index] ?? null);
  writer.int16(0);
  writer.end();
  writer.begin(messageType.execute);
  writer.byte(0);
  writer.int32(0);
  writer.end();
}

function writeSync(): void {
  writer.begin(messageType.sync);
  writer.end();
}

function writeClose(name: string): void {
  writer.begin(messageType.close);
  writer.byte(statementKind);
  writer.terminated(name);
  writer.end();
}
