/** Random foreign keys: to keys and unique columns, single and composite, to the table itself, several to one table, one-to-one. */
import { FreshNames, randomName } from './hostile-names.ts';
import type { RandomSource } from './random-source.ts';
import { addColumn } from './random-tables.ts';
import { columnOf, type Directive, type SchemaDescription, type TableDescription } from './schema-description.ts';

/** Adds foreign keys, with columns of their own or along the primary key. */
export function addForeignKeys(random: RandomSource, schema: SchemaDescription): void {
  const count = random.integer(1, schema.tables.length + 2);
  for (let number = 0; number < count; number += 1) {
    const local = random.pick(schema.tables);
    const target = random.chance(0.2) ? local : random.pick(schema.tables);
    const targetColumns = referable(random, target);
    if (targetColumns)
      addForeignKey(random, schema, local, target, targetColumns, `${[...randomName(random, 0.2)].slice(0, 20).join('')}_${number}`);
  }
}

function addForeignKey(
  random: RandomSource,
  schema: SchemaDescription,
  local: TableDescription,
  target: TableDescription,
  targetColumns: readonly string[],
  name: string,
): void {
  const localColumns = keyAsReference(random, schema, local, target, targetColumns) ?? newColumns(random, local, target, targetColumns);
  const isNullable = localColumns.every((each) => !columnOf(local, each).notNull);
  const onDelete = random.pick(isNullable ? (['no action', 'cascade', 'set null'] as const) : (['no action', 'cascade'] as const));
  schema.foreignKeys.push({
    name,
    local,
    localColumns,
    target,
    targetColumns,
    directive: foreignKeyDirective(random),
    declared: false,
    onDelete,
  });
}

/** The columns that a foreign key may point at: the primary key or unique columns that are not null. */
function referable(random: RandomSource, target: TableDescription): readonly string[] | undefined {
  const unique = target.uniqueKeys.filter((columns) => columns.every((name) => columnOf(target, name).notNull));
  const candidates = [...(target.primaryKey.length > 0 ? [target.primaryKey, target.primaryKey] : []), ...unique];
  return candidates.length > 0 ? random.pick(candidates) : undefined;
}

/** The whole primary key of a later table as reference to an earlier one, where the types allow it: a row extends another. */
function keyAsReference(
  random: RandomSource,
  schema: SchemaDescription,
  local: TableDescription,
  target: TableDescription,
  targetColumns: readonly string[],
): readonly string[] | undefined {
  if (schema.tables.indexOf(local) <= schema.tables.indexOf(target) || local.primaryKey.length !== targetColumns.length) return undefined;
  const isUsed = schema.foreignKeys.some((key) => key.local === local && key.localColumns.some((name) => local.primaryKey.includes(name)));
  const fits = targetColumns.every((name, index) => columnOf(local, local.primaryKey[index]!).type.sql === columnOf(target, name).type.sql);
  return fits && !isUsed && random.chance(0.5) ? local.primaryKey : undefined;
}

function newColumns(
  random: RandomSource,
  local: TableDescription,
  target: TableDescription,
  targetColumns: readonly string[],
): readonly string[] {
  const names = new FreshNames(local.columns.map(({ name }) => name));
  const columns = targetColumns.map((targetColumn) => {
    const name = names.take(random, 0.08);
    // A reference to the table itself, or to a later one, is filled when all rows are there.
    addColumn(local, name, columnOf(target, targetColumn).type, false);
    return name;
  });
  // What is unique in a partitioned table holds the column that it is partitioned by.
  if (!local.isPartitioned && random.chance(0.2)) local.uniqueKeys.push([...columns]);
  return columns;
}

function foreignKeyDirective(random: RandomSource): Directive | null {
  if (random.chance(0.75)) return null;
  return {
    ...(random.chance(0.6) && { local_name: randomName(random, 0.1) }),
    ...(random.chance(0.6) && { foreign_name: randomName(random, 0.1) }),
  };
}
