/**
 * The text of a claim that identifies a user, a session or a token: some issuers write ids as numbers, and PostgreSQL's `->>` reads `77` and
 * `"77"` as the same text. Null if it is no id: absent, empty, a list or an object.
 */
export function idTextOf(claim: unknown): string | null {
  if (typeof claim === 'string') return claim === '' ? null : claim;
  return typeof claim === 'number' || typeof claim === 'bigint' || typeof claim === 'boolean' ? String(claim) : null;
}
