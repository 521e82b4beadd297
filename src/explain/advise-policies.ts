/**
 * Advises on policies that call a function for each row although the result is the same for all, from the tables that an operation reads or
 * writes. PostgreSQL evaluates a subselect that does not depend on the row once per statement.
 */
import { wrapCalls } from '../doctor/policy-calls.ts';
import type { AdvisedTable, PolicyFacts } from './advised-table.ts';
import type { Advice } from './explanation.ts';

/** Advice for the policies of a table that apply to this kind of operation. */
export function adviseForPolicies(table: AdvisedTable, kind: 'query' | 'mutation'): Advice[] {
  const policies = table.policies.filter(({ command }) => kind === 'mutation' || command === 'r' || command === '*');
  return policies.flatMap((policy) => adviseForPolicy(table, policy) ?? []);
}

function adviseForPolicy(table: AdvisedTable, { name, sql, using, check, functions }: PolicyFacts): Advice | null {
  const names = functions.map((called) => called.name);
  const better = { using: wrapCalls(using, names), check: wrapCalls(check, names) };
  const clauses = [
    ...(better.using === using ? [] : [`using (${better.using})`]),
    ...(better.check === check ? [] : [`with check (${better.check})`]),
  ];
  if (clauses.length === 0) return null;
  const doubt = functions.some(({ isVolatile }) => isVolatile) ? ', if its volatile calls give the same result throughout a statement' : '';
  const message = `its policy ${name} calls a function for each row although the result is the same for all; a subselect is evaluated once${doubt}`;
  return { code: 'policy-calls-per-row', table: table.name, message, sql: `alter policy ${sql} on ${table.sql} ${clauses.join(' ')};` };
}
