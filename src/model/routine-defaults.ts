/** Argument defaults as introspection shows them: constants of a few types, as in pg_graphql. Other expressions are not shown. */

/**
 * Converts a default that PostgreSQL deparsed to a JavaScript value; undefined if it is null or not a plain constant. `'see'::text` →
 * `see`, `10` → 10.
 */
export function readDefault(sql: string, typeName: string): unknown {
  switch (typeName) {
    case 'int2':
    case 'int4':
      return /^-?\d+$/.test(sql) ? Number(sql) : undefined;
    case 'float4':
    case 'float8':
      return /^-?\d+(\.\d+)?(e[-+]?\d+)?$/i.test(sql) ? Number(sql) : undefined;
    case 'bool':
      return sql === 'true' ? true : sql === 'false' ? false : undefined;
    case 'text':
      return readText(sql);
    default:
      return undefined;
  }
}

/** A text constant. PostgreSQL writes one with backslashes as `E'...'` and doubles them. */
function readText(sql: string): string | undefined {
  const [, escaped, quoted] = /^(E?)'((?:[^']|'')*)'::text$/s.exec(sql) ?? [];
  if (quoted === undefined) return undefined;
  const text = quoted.replaceAll("''", "'");
  return escaped ? text.replaceAll('\\\\', '\\') : text;
}
