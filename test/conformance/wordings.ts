/**
 * Messages of PostgreSQL that later versions word otherwise than version 15, which the vectors were recorded on.
 */

interface Wording {
  /** The first major version with the new wording. */
  readonly since: number;
  readonly before: RegExp;
  readonly now: string;
}

const wordings: readonly Wording[] = [
  {
    since: 18,
    before: /^(update or delete on table ".+") violates foreign key constraint (".+" on table ".+")$/,
    now: '$1 violates RESTRICT setting of foreign key constraint $2',
  },
];

/** Whether a server of this major version may say `actual` where version 15 said `expected`. */
export function sameMessage(expected: string, actual: string, serverVersion: number): boolean {
  if (expected === actual) return true;
  return wordings.some(
    ({ since, before, now }) => serverVersion >= since && before.test(expected) && expected.replace(before, now) === actual,
  );
}
