/**
 * Makes text from a database safe to show on a terminal: names may contain any character, including control characters that a terminal
 * interprets.
 */

/** One line, to be read. */
export function printable(line: string): string {
  return line.replaceAll(/\p{Cc}+/gu, ' ');
}

/**
 * SQL, to be run: unchanged, including line breaks, because any other text might do something else. If it is not safe to show, returns a
 * message that says so.
 */
export function printableSql(sql: string): string {
  return /[^\P{Cc}\n\t]/u.test(sql) ? '-- This SQL contains control characters; --json shows it.' : sql;
}
