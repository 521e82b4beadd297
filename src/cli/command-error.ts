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
