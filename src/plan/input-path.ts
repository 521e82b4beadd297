/** The place of an input in the arguments of a root field, for errors: `objects[2].commentCollection.create[0].body`. */
import { ApiError } from '../errors/api-error.ts';

/** A field or index, and the path of its container. */
export interface InputPath {
  readonly within: InputPath | null;
  readonly key: string | number;
}

export function inputPath(key: string | number, within: InputPath | null = null): InputPath {
  return { within, key };
}

/** The path as text. `indexed` includes list indexes. */
export function writePath(path: InputPath | null, indexed = true): string {
  const parts: string[] = [];
  for (let part = path; part !== null; part = part.within) {
    if (typeof part.key === 'string') parts.push(part.within === null ? part.key : `.${part.key}`);
    else if (indexed) parts.push(`[${part.key}]`);
  }
  return parts.reverse().join('');
}

/** The common path of some inputs: with indexes if there is only one input. */
export function placeOf(paths: readonly InputPath[]): string {
  const [first = null, ...others] = paths;
  return writePath(first, others.length === 0);
}

export function inputError(path: InputPath, message: string): ApiError {
  return new ApiError('BAD_USER_INPUT', message, { details: { input: writePath(path) } });
}

/** Runs `work`, and adds the path to any error without one. */
export function atInput<Result>(path: InputPath, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof ApiError) || error.details.input !== undefined) throw error;
    throw error.withDetails({ input: writePath(path) });
  }
}
