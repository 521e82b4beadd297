/** The call of a function as a root field of a mutation. */
import type { ResultPlan, RoutinePlan } from '../../plan/plan.ts';
import { newLine, type Sql, sql } from '../../sql/sql.ts';
import { callOf } from '../compile-query.ts';
import { resultJson, selectCalled } from '../compile-row.ts';
import { type Frame, type FramesOfTwo, type SqlOfTwo, StatementContext, selectList } from '../statement.ts';
import { storedResult, storeResult } from './written-rows.ts';

/** Compiles the call and its response to one statement. */
export function compileCall(plan: RoutinePlan, frame: Frame): Sql {
  return selectResult(plan.result, callOf(plan), frame);
}

/** Calls the function and stores the rows that it returns in one statement, and reads the response in another. */
export function compileCallInTwo(plan: RoutinePlan, frames: FramesOfTwo): SqlOfTwo {
  const { result } = plan.routine;
  if (result.kind !== 'row' && result.kind !== 'rows') throw new Error(`${plan.routine.name} returns no rows.`);
  // A row of nulls stands for no row, and need not be one that the table's type accepts.
  const isRow = result.kind === 'row' ? sql`${newLine}where not (w.* is null)` : sql``;
  return {
    write: sql`select ${selectList(frames.write, [storeResult(result.table)])}${newLine}from ${callOf(plan)} as w${isRow}`,
    answer: selectResult(plan.result, storedResult(result.table), frames.answer),
  };
}

function selectResult(result: ResultPlan, call: Sql, frame: Frame): Sql {
  const context = new StatementContext();
  if (result.kind === 'rows') return selectCalled(result.connection, call, context, frame);
  return sql`select ${selectList(frame, [resultJson(result, call, context, true)])}`;
}
