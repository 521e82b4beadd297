/**
 * Explains a request: its plan as a tree, PostgreSQL's plans for its statements, and advice. Changes nothing: statements run only in
 * `analyze` mode, in a transaction that is rolled back.
 */

import type { Database, Session, Statement } from '../database/database.ts';
import type { RequestToExplain } from '../engine/handle.ts';
import { checkOptions, type OptionChecks, oneOf } from '../settings/check-options.ts';
import { advise } from './advise.ts';
import { readDatabasePlan } from './database-plan.ts';
import type { DatabasePlan, ExplainedStatement, ExplainMode, ExplainOptions, Explanation } from './explanation.ts';
import { drawPlan } from './plan-tree.ts';

const explainChecks: OptionChecks<ExplainOptions> = { mode: oneOf('sql', 'plan', 'analyze') };

/** The mode in the options. Throws `TypeError` for invalid options. */
export function modeOf(options: ExplainOptions = {}): ExplainMode {
  checkOptions(options, explainChecks);
  return options.mode ?? 'plan';
}

/** Explains a request. Rejects with `DatabaseError` if PostgreSQL rejects a statement. `timeoutMillis` limits each statement. */
export async function explainRequest(
  database: Database,
  { kind, plan, statements, session }: RequestToExplain,
  mode: ExplainMode,
  timeoutMillis: number,
): Promise<Pick<Explanation, 'plan' | 'statements' | 'advice'>> {
  const tree = plan === null ? null : drawPlan(plan);
  if (mode === 'sql' || statements.length === 0)
    return { plan: tree, statements: statements.map((each) => explained(each, null)), advice: [] };
  const plans = await planStatements(database, statements, session, mode, timeoutMillis);
  return {
    plan: tree,
    statements: statements.map((statement, index) => explained(statement, plans[index]!)),
    advice: await advise(database, plans, plan, kind, session.role),
  };
}

function explained({ text, parameters }: Statement, databasePlan: DatabasePlan | null): ExplainedStatement {
  return { text, parameters, databasePlan };
}

/** Plans the statements in one transaction, so that each sees the effects of those before it, as when they run. */
function planStatements(
  database: Database,
  statements: readonly Statement[],
  session: Session,
  mode: ExplainMode,
  timeoutMillis: number,
): Promise<DatabasePlan[]> {
  const options = mode === 'analyze' ? 'analyze, verbose, settings, format json' : 'verbose, settings, format json';
  return database.tryOut(session, timeoutMillis, async (run) => {
    const plans: DatabasePlan[] = [];
    for (const { text, parameters } of statements) {
      const [row] = await run(`explain (${options}) ${text}`, parameters);
      plans.push(readDatabasePlan(row?.[0] ?? ''));
    }
    return plans;
  });
}
