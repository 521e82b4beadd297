/** Finds the cursor or nodeId that an error belongs to: PostgreSQL says which parameter it could not read. */
import type { ApiError } from '../../errors/api-error.ts';
import type { ErrorCode } from '../../errors/codes.ts';
import { unreadParameter } from '../../errors/from-postgres.ts';
import type { Parameter } from '../../plan/parameter.ts';
import { walkPlan } from '../../plan/walk.ts';
import { MalformedIdError } from '../../request/coerce/opaque-id.ts';
import { canBind, type Failure } from './locate-input.ts';

/** Of the checks of domains. */
const ofChecks: ReadonlySet<ErrorCode> = new Set(['CONSTRAINT_VIOLATION', 'RAISED']);

/**
 * The error, if a value in a cursor or nodeId caused it: INVALID_VALUE of a cursor as PostgreSQL words it, with the name of the argument. A
 * value that checks of a domain refuse, inside an array for example, was in no response, whatever the checks raise. Null for another error.
 */
export function errorOfElement(failure: Failure): ApiError | null {
  const { error, cause, statement, compiled } = failure;
  const parameter = compiled.statements[statement]?.parameters[((cause && unreadParameter(cause)) ?? 0) - 1];
  if (parameter?.encoding.kind !== 'text' && parameter?.encoding.kind !== 'array') return null;
  const { argument: ofNodeId } = parameter.encoding;
  const argument = ofNodeId ?? argumentWith(parameter, failure);
  if (argument === undefined) return null;
  const what = ofNodeId === undefined ? 'cursor' : 'nodeId';
  if (error.code === 'INVALID_VALUE') return what === 'cursor' ? error.withDetails({ input: argument }) : null;
  if (!ofChecks.has(error.code)) return null;
  return new MalformedIdError(what, `the argument "${argument}"`, cause).at(error.path, error.locations);
}

/** The argument with a cursor that has the same value; undefined if there is none. */
function argumentWith(parameter: Parameter, failure: Failure): 'after' | 'before' | undefined {
  const { plan, textOf } = failure;
  const text = textOf(parameter);
  let argument: 'after' | 'before' | undefined;
  // Another statement may have a cursor that cannot be bound.
  const isSame = (element: Parameter | null): boolean =>
    element?.encoding.kind === parameter.encoding.kind && canBind(element, failure) && textOf(element) === text;
  if (plan) {
    walkPlan(plan, null, (node) => {
      const { cursor = null, direction } = node.kind === 'connection' ? node.value.page : {};
      if (cursor?.some(isSame)) argument = direction === 'forward' ? 'after' : 'before';
      return null;
    });
  }
  return argument;
}
