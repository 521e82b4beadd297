/**
 * Encodes a batch as protocol messages under a single Sync, which PostgreSQL runs as one implicit transaction
 * (https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-PIPELINING). Used for both pg and PGlite.
 */

import { DatabaseError } from '../../errors/database-error.ts';
import type { Batch, Statement } from '../database.ts';
import {
  leadingStatements,
  roleLimitOf,
  type SessionSettings,
  type SettingsToKeep,
  type SettingsUse,
  sessionStatement,
  sessionText,
  trailingStatements,
} from '../session-statement.ts';
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
/** Not `set local`, because a script may contain several transactions. */
const unlimit: Statement = { text: 'set statement_timeout to default', parameters: [] };
const writer = new MessageWriter();

/** How a batch uses what the connection keeps. */
export interface ConnectionUse {
  /** The prepared statements; those that the batch parses are recorded there, to be settled after the reply. Null prepares nothing by name. */
  readonly prepared: PreparedStatements | null;
  readonly use: SettingsUse;
  /** With the use `connection`, what to keep. */
  readonly kept: SettingsToKeep | null;
  /** Whether to take away the kept time limit first, which is too short. */
  readonly unlimits: boolean;
  /** Whether PostgreSQL can limit the time of statements. */
  readonly hasTimers: boolean;
}

/** Encodes batches one after the other, each with a Sync of its own. */
export function encodeBatches(batches: readonly Batch[], connection: ConnectionUse): Buffer {
  for (const { statements } of batches) {
    for (const { parameters } of statements) {
      if (parameters.length > mostParameters) throw new DatabaseError(`More than ${mostParameters} parameters`, { sqlstate: '54000' });
    }
  }
  try {
    return writer.encode(() => {
      for (const batch of batches) writeBatch(batch, connection);
    });
  } catch (error) {
    connection.prepared?.discard();
    throw error;
  }
}

function writeBatch(batch: Batch, connection: ConnectionUse): void {
  const { prepared } = connection;
  const { session, claim, statements } = batch;
  // Before everything that PostgreSQL may refuse: after an error it skips the rest.
  if (prepared) for (const name of prepared.takeEvicted()) writeClose(name);
  let position = 0;
  if (connection.unlimits) writeStatement(unlimit, everyRole, position++, null);
  if (session) {
    for (const leading of leadingStatements(session)) writeStatement(leading, everyRole, position++, null);
    if (claim !== undefined) writeStatement(claim, everyRole, position++, prepared);
    writeStatement(sessionStatement(session, settingsOf(batch, connection)), everyRole, position++, prepared);
  }
  const owner = ownerOf(batch);
  for (const statement of statements) writeStatement(statement, owner, position++, prepared);
  for (const trailing of trailingStatements(batch)) writeStatement(trailing, everyRole, position++, prepared);
  writer.begin(messageType.sync);
  writer.end();
}

function settingsOf(batch: Batch, { prepared, use, kept, hasTimers }: ConnectionUse): SessionSettings {
  const genericPlan = prepared !== null && batch.genericPlan === true;
  if (!hasTimers || use === 'kept') return { use, timeout: null, genericPlan };
  const left = Math.min(batch.deadline?.remaining ?? Infinity, roleLimitOf(batch));
  const timeout = left === Infinity && use === 'transaction' ? null : Math.max(1, Math.ceil(left));
  return { use, timeout, genericPlan, kept };
}

/** The owner of the prepared statements that a batch uses. */
export function ownerOf({ session, preparedFor }: Batch): string {
  return preparedFor ?? session?.role ?? everyRole;
}

/** Whether all statements of a batch are prepared already. One that makes settings for others counts as unprepared: it may not share a write. */
export function isPrepared(batch: Batch, { prepared, use, hasTimers }: ConnectionUse): boolean {
  if (prepared === null || use === 'connection') return false;
  const { session, statements, genericPlan = false } = batch;
  if (session !== null) {
    if (leadingStatements(session).length > 0 || session.resetsConnection === true) return false;
    const isLimited = Math.min(batch.deadline?.expiresAt ?? Infinity, roleLimitOf(batch)) !== Infinity;
    const hasTimeout = hasTimers && use !== 'kept' && (use !== 'transaction' || isLimited);
    if (!prepared.has(everyRole, sessionText(session, use, hasTimeout, genericPlan))) return false;
  }
  const owner = ownerOf(batch);
  return statements.every(({ text }) => prepared.has(owner, text));
}

/** Encodes a script of one or more statements without parameters for the simple protocol. `unlimits`: see `ConnectionUse`. */
export function encodeScript(text: string, unlimits = false): Buffer {
  return writer.encode(() => {
    writer.begin(messageType.query);
    writer.terminated(unlimits ? `${unlimit.text}; ${text}` : text);
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
