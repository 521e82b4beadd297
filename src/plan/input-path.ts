/** Where in the arguments of a root field an input stands, as its errors name it: `objects[2].commentCollection.create[0].body`. */
import { ApiError } from '../errors.ts';

/** A field or an index, and what it stands in. */
export interface InputPath {
  readonly within: InputPath | null;
  readonly key: string | number;
}

export function inputPath(key: string | number, within: InputPath | null = null): InputPath {
  return { within, key };
}

/** The path as text. `indexed`: whether with the indexes of lists. */
export function writePath(path: InputPath | null, indexed = true): string {
  const parts: string[] = [];
  for (let part = path; part !== null; part = part.within) {
    if (typeof part.key === 'string') parts.push(part.within === null ? part.key : `.${part.key}`);
    else if (indexed) parts.push(`[${part.key}]`);
  }
  return parts.reverse().join('');
}

/** The path of some inputs: with indexes if it is but one. */
export function placeOf(paths: readonly InputPath[]): string {
  const [first = null, ...others] = paths;
  return writePath(first, others.length === 0);
}

/** BAD_USER_INPUT for an input, with its path. */
export function inputError(path: InputPath, message: string): ApiError {
  return new ApiError('BAD_USER_INPUT', message, { details: { input: writePath(path) } });
}

/** Does the work for an input: its path belongs to an error that has none. */
export function atInput<Result>(path: InputPath, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof ApiError) || error.details.input !== undefined) throw error;
    throw error.withDetails({ input: writePath(path) });
  }
}
