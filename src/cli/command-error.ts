/** Errors that end a command with one clear line instead of a stack trace. */

/** `exitCode` 2: the user's input is wrong or missing; 1: the work failed. */
export class CommandError extends Error {
  readonly exitCode: 1 | 2;

  constructor(message: string, exitCode: 1 | 2, cause?: unknown) {
    super(message, { cause });
    this.name = 'CommandError';
    this.exitCode = exitCode;
  }
}

/** Ends a command with an exit code but no message, because everything has already been printed. */
export class SilentExitError extends Error {
  readonly exitCode: number;

  constructor(exitCode: number) {
    super(`ended with exit code ${exitCode}`);
    this.name = 'SilentExitError';
    this.exitCode = exitCode;
  }
}

/** Why a file cannot be read: `ENOENT: no such file or directory, open '/a.graphql'` becomes `no such file or directory`. */
export function describeFileError(error: unknown): string {
  const { message } = error as Error;
  return /^E[A-Z0-9]+: (.+?), [a-z]+(?: '.*')?$/s.exec(message)?.[1] ?? message;
}
