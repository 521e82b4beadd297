/**
 * Encodes a batch as protocol messages under a single Sync, which PostgreSQL runs as one implicit transaction
 * (https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-PIPELINING). Used for both pg and PGlite.
 */

import { DatabaseError } from '../../errors/database-error.ts';
import type { Batch, Statement } from '../database.ts';
import { leadingStatements, roleLimitOf, sessionStatement, sessionText, trailingStatements } from '../session-statement.ts';
import { MessageWriter } from './message-writer.ts';
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
const writer = new MessageWriter();

/**
 * Encodes batches one after the other, each with a Sync of its own. What they parse is recorded in `prepared`, to be settled after the reply;
 * null prepares nothing by name. `hasTimers`: whether PostgreSQL can limit the time of statements.
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
  const { session, claim, statements } = batch;
  // Before everything that PostgreSQL may refuse: after an error it skips the rest.
  if (prepared) for (const name of prepared.takeEvicted()) writeClose(name);
  let position = 0;
  if (session) {
    for (const leading of leadingStatements(session)) writeStatement(leading, everyRole, position++, null);
    if (claim !== undefined) writeStatement(claim, everyRole, position++, prepared);
    const genericPlan = prepared !== null && batch.genericPlan === true;
    const timeout = hasTimers ? timeoutOf(batch) : null;
    writeStatement(sessionStatement(session, timeout, genericPlan), everyRole, position++, prepared);
  }
  const owner = ownerOf(batch);
  for (const statement of statements) writeStatement(statement, owner, position++, prepared);
  for (const trailing of trailingStatements(batch)) writeStatement(trailing, everyRole, position++, prepared);
  writer.begin(messageType.sync);
  writer.end();
}

/** What is left of the batch's time, in milliseconds, or its role's limit; null if there is none. */
function timeoutOf(batch: Batch): number | null {
  const left = Math.min(batch.deadline?.remaining ?? Infinity, roleLimitOf(batch));
  return left === Infinity ? null : Math.max(1, Math.ceil(left));
}

/** The owner of the prepared statements that a batch uses. */
export function ownerOf({ session, preparedFor }: Batch): string {
  return preparedFor ?? session?.role ?? everyRole;
}

/** Whether all statements of a batch are prepared already, so that it parses none. */
export function isPrepared(batch: Batch, prepared: PreparedStatements): boolean {
  const { session, statements, genericPlan = false } = batch;
  if (session !== null) {
    if (leadingStatements(session).length > 0 || session.resetsConnection === true) return false;
    if (!prepared.has(everyRole, sessionText(session, timeoutOf(batch) !== null, genericPlan))) return false;
  }
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
  let name = prepared?.find(owner, text, position);
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

function writeClose(name: string): void {
  writer.begin(messageType.close);
  writer.byte(statementKind);
  writer.terminated(name);
  writer.end();
}
