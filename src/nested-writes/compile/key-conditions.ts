/** Conditions that compare columns with stored keys. */

import type { Scope } from '../../compile/scope.ts';
import { collated, comparable, comparedType } from '../../compile/values/comparison.ts';
import type { Table } from '../../model/model.ts';
import type { KeyList, KeyPair, WrittenRows } from '../../plan/nested-write-plan.ts';
import { exists } from '../../sql/clauses.ts';
import { type Sql, sql } from '../../sql/sql.ts';
import type { StoredKeys } from './stored-keys.ts';

/**
 * The conditions that rows are related to those of a list. With several columns, `areAmong` checks each column by itself, only so that an
 * index can be used; `exists` then checks them together.
 */
export function belongsTo({ list: of, pairs }: NonNullable<WrittenRows['of']>, target: Scope, keys: StoredKeys): Sql[] {
  const among = areAmong(of, pairs, target, keys);
  if (pairs.length === 1 && among.length === 1) return among;
  const isSame = pairs.map((pair) => isPair(of, 'k', pair, target, keys));
  return [...among, exists({ from: keys.rows(of, 'k'), where: isSame })];
}

/**
 * The conditions that each key column has one of the list's values. They use arrays because PostgreSQL expects few elements of an array but
 * many rows of JSON, so it uses the index of the key.
 */
export function areAmong(of: KeyList, pairs: readonly KeyPair[], target: Scope, keys: StoredKeys): Sql[] {
  // Arrays cannot have arrays as elements.
  const simple = pairs.filter(({ type }) => !type.sqlType.endsWith('[]'));
  return simple.map((pair) => sql`${comparedColumn(pair, target)} = any (${keys.array(of, pair.of, comparedType(pair.type))})`);
}

export function isPair(of: KeyList, alias: string, pair: KeyPair, target: Scope, keys: StoredKeys): Sql {
  return sql`${comparedColumn(pair, target)} = ${keys.column(of, alias, pair.of, comparedType(pair.type))}`;
}

export function comparedColumn({ name, type, collation }: KeyPair, target: Scope): Sql {
  return collated(comparable(target.column(name), type), collation);
}

export function keyOf({ primaryKey }: Table): KeyPair[] {
  return primaryKey.map(({ name, type }) => ({ name, type, of: name, collation: null }));
}
