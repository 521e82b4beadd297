/** The call of a function as a root field of a mutation. */
import type { ResultPlan, RoutinePlan } from '../plan/plan.ts';
import { identifier, join, newLine, type Sql, sql } from '../sql/sql.ts';
import { bound } from './comparison.ts';
import { resultJson, selectCalled } from './compile-row.ts';
import { StatementContext } from './context.ts';
import { type Frame, type FramesOfTwo, type SqlOfTwo, selectList } from './statement-frame.ts';
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

/**
 * A call in named notation (manual: Calling Functions), in which absent arguments take their defaults. A variadic argument must be last.
 */
export function callOf({ routine, arguments: given }: RoutinePlan): Sql {
  const inOrder = given.toSorted((one, other) => Number(one.argument.variadic) - Number(other.argument.variadic));
  const named = inOrder.map(
    ({ argument, parameter }) =>
      sql`${argument.variadic ? sql`variadic ` : sql``}${identifier(argument.name)} => ${bound(parameter, argument.type)}`,
  );
  return sql`${identifier(routine.schema, routine.name)}(${join(named, ', ')})`;
}
