/** Text from a database, as a terminal may show it: names may contain any character, control characters that a terminal obeys among them. */

/** One line, for reading. */
export function printable(line: string): string {
  return line.replaceAll(/\p{Cc}+/gu, ' ');
}

/** SQL, for running: unchanged, line breaks and all, because any other text might do something else. Where that is not safe to show, it says so. */
export function printableSql(sql: string): string {
  return /[^\P{Cc}\n\t]/u.test(sql) ? '-- This SQL contains control characters; --json shows it.' : sql;
}
