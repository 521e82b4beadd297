/** Why a file cannot be read, for messages that name the file themselves. In: what Node threw; out: the reason, without code and path. */

/** `ENOENT: no such file or directory, open '/a.graphql'` becomes `no such file or directory`. Other messages stay as they are. */
export function describeFileError(error: unknown): string {
  const { message } = error as Error;
  return /^E[A-Z0-9]+: (.+?), [a-z]+(?: '.*')?$/s.exec(message)?.[1] ?? message;
}
