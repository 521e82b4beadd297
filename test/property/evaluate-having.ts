/** Conditions on the counts of groups. As in filters, what holds no condition is none, and a comparison with null is neither true nor false. */
import { RefusalError } from './property-failure.ts';
import { all, any, negate, type Truth } from './truth.ts';

/** Whether a group of so many rows is wanted. */
export function passes(having: unknown, count: number): boolean {
  const truth = judgeHaving(having, count);
  return truth === undefined || truth === true;
}

/** What it comes to; undefined where it holds no condition. */
function judgeHaving(having: unknown, count: number): Truth | undefined {
  if (having === null || having === undefined) return undefined;
  const members = Object.entries(having as Readonly<Record<string, unknown>>).filter(([, value]) => value !== null);
  return join(
    members.map(([name, value]) => judgeMember(name, value, count)),
    all,
  );
}

function judgeMember(name: string, value: unknown, count: number): Truth | undefined {
  if (name === 'not') {
    const truth = judgeHaving(value, count);
    return truth === undefined ? undefined : negate(truth);
  }
  if (name === 'and' || name === 'or') {
    const items = (Array.isArray(value) ? value : [value]).map((item) => judgeHaving(item, count));
    return join(items, name === 'or' ? any : all);
  }
  const tests = Object.entries(value as Readonly<Record<string, unknown>>);
  return join(
    tests.map(([operator, operand]) => compares(count, operator, operand)),
    all,
  );
}

function join(truths: readonly (Truth | undefined)[], combine: (truths: readonly Truth[]) => Truth): Truth | undefined {
  const present = truths.filter((truth) => truth !== undefined);
  return present.length > 0 ? combine(present) : undefined;
}

function compares(count: number, operator: string, operand: unknown): Truth {
  if (operator === 'is' && operand === null) throw new RefusalError('"is" takes no null');
  if (operator === 'is') return operand === 'NOT_NULL';
  if (operand === null) return null;
  if (operator === 'in') return (Array.isArray(operand) ? operand : [operand]).includes(count);
  const difference = count - (operand as number);
  const answers: Readonly<Record<string, boolean>> = {
    eq: difference === 0,
    neq: difference !== 0,
    gt: difference > 0,
    gte: difference >= 0,
    lt: difference < 0,
    lte: difference <= 0,
  };
  return answers[operator]!;
}
