/** Whether two rows belong to each other by a relation. */
import type { Relation } from '../../src/model/model.ts';
import { type LoadedRow, valueOf } from './loaded-tables.ts';
import { columnOf } from './schema-description.ts';

/** The types of keys have one text for each value, but for numbers with a scale and the letters of UUIDs. */
function sameKey(scalar: string, value: unknown, given: unknown): boolean {
  const [left, right] = [String(value), String(given)];
  if (scalar === 'UUID') return left.toLowerCase() === right.toLowerCase();
  return scalar === 'BigFloat' ? plainNumber(left) === plainNumber(right) : left === right;
}

/** One text for each number: `10.50`, `1.05e1` and `0010.5` are `105e-1`. */
export function plainNumber(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = /^(-?)(\d*)\.?(\d*)(?:e([-+]?\d+))?$/i.exec(text) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return /\d/.test(text) ? '0' : text;
  return `${sign}${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}

/** Both sides of a foreign key have one type, so that equal values have equal texts, scale aside. */
export function areTied({ columns }: Relation, row: LoadedRow, other: LoadedRow): boolean {
  return columns.every(({ near, target }) => {
    const [left, right] = [valueOf(row, near), valueOf(other, target)];
    const { scalar } = columnOf(row.table.description, near).type;
    return left.text !== null && right.text !== null && sameKey(scalar, left.text, right.text);
  });
}
