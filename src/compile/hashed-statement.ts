/**
 * A query that returns its answer only if it is another one than before: the statement of the query, around it the hash of its columns,
 * and with the hash of the last answer as one more parameter.
 *
 *     with answer(c0, c1) as materialized (
 *     select …
 *     )
 *     select a.c0, case when h.hash <> $3::text then a.c1 end, h.hash from …
 */

import type { Parameter } from '../plan/parameter.ts';
import { identifier, literal, render } from '../sql/sql.ts';

export interface HashedStatement {
  readonly text: string;
  /** The columns of the answer, at the places where the statement has them; the hash comes after them. */
  readonly columns: number;
}

const textOf = (fragment: Parameters<typeof render>[0]): string => render(fragment).text;
/** Hashing needs a collation, and only a deterministic one hashes equal texts alone to the same value. */
const byteOrder = textOf(identifier('pg_catalog', 'C'));

/**
 * The statement of a query with its hash; `places` are the columns that its root fields are in, at least one, `others` those besides. The hash has 128 bits, of
 * which nothing depends but whether a client sees its own new answer. It is not MD5, which PostgreSQL refuses where FIPS 140 is enforced.
 */
export function hashedStatement(
  statement: { readonly text: string; readonly parameters: readonly Parameter[] },
  places: readonly number[],
  others: readonly number[],
): HashedStatement {
  const columns = 1 + Math.max(...places, ...others);
  const names = Array.from({ length: columns }, (_, index) => `c${index}`);
  const values = places.map((place) => `coalesce(a.c${place}::text, ${textOf(literal('null'))})`);
  const whole = values.length === 1 ? values[0] : `pg_catalog.concat(${values.join(`, ${textOf(literal(','))}, `)})`;
  const hashOf = (seed: number): string => `pg_catalog.hashtextextended(t.answer collate ${byteOrder}, ${seed})`;
  const shown = names.map((name, index) =>
    places.includes(index) ? `case when h.hash <> $${statement.parameters.length + 1}::text then a.${name} end` : `a.${name}`,
  );
  const text = `with answer(${names.join(', ')}) as materialized (
${statement.text}
)
select ${shown.join(',\n  ')},
  h.hash
from (select) o
left join answer a on true
cross join lateral (select ${whole} as answer offset 0) t
cross join lateral (select pg_catalog.concat(${hashOf(0)}, ${textOf(literal(' '))}, ${hashOf(1)}) as hash offset 0) h`;
  return { text, columns };
}
