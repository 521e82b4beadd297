/** Random rows that keep all keys, foreign keys and not-null constraints. */
import type { RandomSource } from './random-source.ts';
import {
  type ColumnDescription,
  columnOf,
  type ForeignKeyDescription,
  type Row,
  type SchemaDescription,
  type TableDescription,
} from './schema-description.ts';

/** Fills the tables. References within a key come first, as other references need the rows that they leave. */
export function addRows(random: RandomSource, schema: SchemaDescription): void {
  for (const table of schema.tables) {
    const many = random.chance(0.08);
    const count = random.chance(0.1) ? 0 : random.integer(1, many ? 45 : 12);
    table.rows = Array.from({ length: count }, (_, number) => randomRow(random, table, number));
    for (const key of schema.foreignKeys.filter((each) => each.local === table && isWithinKey(each))) followKey(random, key);
    keepUnique(table);
  }
  for (const key of schema.foreignKeys.filter((each) => !isWithinKey(each))) fillReference(random, key);
  for (const key of schema.foreignKeys.filter((each) => !isWithinKey(each))) requireWhereFull(random, key);
}

function isWithinKey({ local, localColumns }: ForeignKeyDescription): boolean {
  return localColumns.some((name) => local.primaryKey.includes(name));
}

function randomRow(random: RandomSource, table: TableDescription, number: number): Row {
  return new Map(table.columns.map((column) => [column.name, randomValue(random, column, isKey(table, column), number)]));
}

function isKey(table: TableDescription, { name }: ColumnDescription): boolean {
  return table.primaryKey.includes(name) || table.uniqueKeys.some((columns) => columns.includes(name));
}

function randomValue(random: RandomSource, column: ColumnDescription, isKeyColumn: boolean, number: number): string | null {
  const { type, notNull, identity } = column;
  if (identity) return String(number + 1);
  if (!notNull && random.chance(0.25)) return null;
  // Few values of a key's type would leave few rows.
  if (isKeyColumn && ['integer', 'bigint', 'numeric'].includes(type.sql) && random.chance(0.7)) return String(random.integer(-5, 60));
  return random.pick(type.values);
}

/** Rows of a table whose key is a reference: at most one for each target. */
function followKey(random: RandomSource, { local, localColumns, target, targetColumns }: ForeignKeyDescription): void {
  const targets = random.sample(target.rows, local.rows.length);
  local.rows = local.rows.slice(0, targets.length);
  local.rows.forEach((row, index) => {
    for (const [position, name] of localColumns.entries()) row.set(name, targets[index]!.get(targetColumns[position]!) ?? null);
  });
}

/** Drops rows whose key an earlier row has: PostgreSQL's equality of a type is coarser than that of its texts. */
function keepUnique(table: TableDescription): void {
  const keys = [table.primaryKey, ...table.uniqueKeys].filter((columns) => columns.length > 0);
  for (const columns of keys) {
    const seen = new Set<string>();
    table.rows = table.rows.filter((row) => {
      const values = columns.map((name) => comparable(columnOf(table, name), row.get(name) ?? null));
      if (values.includes(null)) return true;
      const text = JSON.stringify(values);
      const isNew = !seen.has(text);
      seen.add(text);
      return isNew;
    });
  }
}

function comparable({ type }: ColumnDescription, text: string | null): string | null {
  if (text === null || !type.sql.startsWith('numeric')) return text;
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

/** Points each row at some row of the target or at none; at different ones where the reference is unique. */
function fillReference(random: RandomSource, { local, localColumns, target, targetColumns }: ForeignKeyDescription): void {
  const isUnique = local.uniqueKeys.some((columns) => columns.every((name) => localColumns.includes(name)));
  const left = random.shuffled(target.rows);
  for (const row of local.rows) {
    const chosen = random.chance(0.2) || left.length === 0 ? undefined : isUnique ? left.pop() : random.pick(left);
    for (const [position, name] of localColumns.entries()) row.set(name, chosen?.get(targetColumns[position]!) ?? null);
    // A composite reference with a null in it refers to nothing.
    if (chosen && localColumns.length > 1 && random.chance(0.1)) row.set(random.pick(localColumns), null);
  }
}

/** References that every row has may be declared not null. */
function requireWhereFull(random: RandomSource, { local, localColumns, onDelete }: ForeignKeyDescription): void {
  for (const name of localColumns) {
    const isFull = local.rows.every((row) => row.get(name) !== null);
    if (isFull && onDelete !== 'set null' && random.chance(0.7)) columnOf(local, name).notNull = true;
  }
}
