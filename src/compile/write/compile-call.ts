/** The call of a function as a root field of a mutation. */
import type { ResultPlan, RoutinePlan } from '../../plan/plan.ts';
import { as, select } from '../../sql/clauses.ts';
import { type Sql, sql } from '../../sql/sql.ts';
import { callOf } from '../compile-query.ts';
import { resultJson, selectCalled } from '../compile-row.ts';
import { answering, type CompiledWrite, type Frame, type StatementContext, selectList, storing } from '../statement.ts';
import { storedResult, storeResult } from './written-rows.ts';

/** Compiles the call and its response: to one statement, or to one that stores the returned rows and one that reads the response. */
export function compileCall(plan: RoutinePlan, context: StatementContext, frame: Frame): CompiledWrite {
  const { result } = plan.routine;
  if (!plan.readsAfter || (result.kind !== 'row' && result.kind !== 'rows'))
    return { before: [], answer: selectResult(plan.result, callOf(plan), context, frame), frame, empty: 'null' };
  const stored = select({
    columns: [selectList(storing(frame), [storeResult(result.table)])],
    from: as(callOf(plan), 'w'),
    // A row of nulls stands for no row, and need not be one that the table's type accepts.
    where: result.kind === 'row' ? [sql`not (w.* is null)`] : [],
  });
  const answer = selectResult(plan.result, storedResult(result.table), context, answering(frame));
  return { before: [stored], answer, frame: answering(frame), empty: 'null' };
}

function selectResult(result: ResultPlan, call: Sql, context: StatementContext, frame: Frame): Sql {
  if (result.kind === 'rows') return selectCalled(result.connection, call, context, frame);
  return select({ columns: [selectList(frame, [resultJson(result, call, context, true)])] });
}
