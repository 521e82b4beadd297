/** Where in the arguments of a field or the value of a variable an error is: `objects[2].commentCollection.create[0].body`. */
import { ApiError, quote } from './api-error.ts';

/** Names of arguments and fields, and indexes of lists, from the outside in. */
export type InputPath = readonly (string | number)[];

export function inputPath(key: string | number, within: InputPath | null = null): InputPath {
  return within === null ? [key] : [...within, key];
}

/** The path as text. `indexed` includes list indexes. */
export function writePath(path: InputPath | null, indexed = true): string {
  const [first = '', ...rest] = path ?? [];
  return `${first}${rest.map((key) => (typeof key === 'string' ? `.${key}` : indexed ? `[${key}]` : '')).join('')}`;
}

/** The common path of some inputs: with indexes if there is only one input. */
export function sharedPath(paths: readonly InputPath[]): string {
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

/** An error of any kind in a part of a value, on its way out of the objects and lists around it. */
class ErrorWithin extends Error {
  readonly path: InputPath;

  constructor(cause: unknown, path: InputPath) {
    super('A part of a value is invalid.', { cause });
    this.path = path;
  }
}

/** The error with `key` prepended to its path; `unwrapError` takes it apart. */
export function errorWithin(error: unknown, key: string | number): Error {
  return error instanceof ErrorWithin ? new ErrorWithin(error.cause, [key, ...error.path]) : new ErrorWithin(error, [key]);
}

/** Runs `work`, and prepends the key of the part that it reads to the path of an error. */
export function within<Result>(key: string | number, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw errorWithin(error, key);
  }
}

/** An error and its path in the value that was read. */
export function unwrapError(error: unknown): { readonly error: unknown; readonly path: InputPath } {
  return error instanceof ErrorWithin ? { error: error.cause, path: error.path } : { error, path: [] };
}

/** What is wrong with a field or an attribute that is given under both its names. */
export function givenTwice(name: string, other: string): string {
  return `The field ${quote(name)} is given twice, as ${quote(name)} and as ${quote(other)}. Leave out one of them.`;
}
