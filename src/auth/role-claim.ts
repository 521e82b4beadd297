/** Finds the role in the claims of a token. In: a path such as `.app_metadata.role`; out: the value there. */

/**
 * The names in a path: `.role`, `.app_metadata.role`, `."https://example.com/claims".role`. Throws an `Error` that says what was expected.
 */
export function parseClaimPath(path: string): readonly string[] {
  if (!/^(\.([\w-]+|"[^"]+"))+$/.test(path))
    throw new Error('must be a path such as .role, .app_metadata.role or ."https://example.com/role"');
  return [...path.matchAll(/\.(?:"([^"]+)"|([\w-]+))/g)].map(([, quoted, plain]) => (quoted ?? plain)!);
}

/** The value at a path of claims; undefined if there is none. */
export function readClaim(claims: Readonly<Record<string, unknown>>, path: readonly string[]): unknown {
  let value: unknown = claims;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[name];
  }
  return value;
}

/** Whether a value may name a role. `none` would reset to the login role, whose privileges no token may grant (PostgreSQL: SET ROLE). */
export function isRoleName(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value !== 'none' && !value.includes('\0') && value.isWellFormed();
}
