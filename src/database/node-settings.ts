/**
 * The settings of a transaction on the nodes of Citus. What `set_config` sets stays on the coordinator. Citus sends on the texts of SET LOCAL
 * if `citus.propagate_set_commands` says so, to the nodes that have a part in the transaction and those that will have one; they end with it.
 * SET takes no parameters, so the values are literals.
 */
import { escapedLiteral, identifier, render, sql } from '../sql/sql.ts';
import type { RequestSetting, Session, Statement } from './database.ts';

/** The setting that makes Citus send them on, for the transaction. */
export const propagation: RequestSetting = ['citus.propagate_set_commands', 'local'];

const none: readonly Statement[] = [];

/** Statements behind the session statement: before it, no transaction is open. The role needs none, as Citus connects as the current role. */
export function nodeStatements({ hasNodes, claims, requestSettings = [] }: Session): readonly Statement[] {
  if (hasNodes !== true) return none;
  return [['request.jwt.claims', claims] as const, ...requestSettings].map(setLocal);
}

function setLocal([name, value]: RequestSetting): Statement {
  return { text: render(sql`set local ${identifier(...name.split('.'))} to ${escapedLiteral(value)}`).text, parameters: [] };
}
