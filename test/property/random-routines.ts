/** Random functions: all rows of a table as a collection, computed fields that show a column in other words, lists and rows that are always the same. */
import { type ColumnType, integerType, randomAttributeType, textType } from './column-types.ts';
import { FreshNames, randomName } from './hostile-names.ts';
import type { RandomSource } from './random-source.ts';
import {
  columnOf,
  type ForeignKeyDescription,
  type RoutineBody,
  type RoutineDescription,
  type SchemaDescription,
  type TableDescription,
} from './schema-description.ts';

/** Adds functions, mostly for all roles. `declared` are types that the schema has. */
export function addRoutines(
  random: RandomSource,
  schema: SchemaDescription,
  roles: readonly string[],
  declared: readonly ColumnType[],
): void {
  const names = new FreshNames();
  const count = random.integer(0, 4);
  for (let number = 0; number < count; number += 1) {
    const body = randomBody(random, schema, declared);
    const name = names.take(random, 0.15);
    addRoutine(random, schema, roles, name, body);
    // Functions of one name are told apart by their arguments.
    const type = randomAttributeType(random, declared);
    if (body.kind === 'constants' && type.sql !== 'integer' && random.chance(0.4))
      addRoutine(random, schema, roles, name, { kind: 'echo', type });
  }
}

function addRoutine(random: RandomSource, schema: SchemaDescription, roles: readonly string[], name: string, body: RoutineBody): void {
  schema.routines.push({
    name,
    body,
    arguments: argumentsOf(random, body),
    isVolatile: body.kind === 'set column' || (!('column' in body) && random.chance(0.15)),
    directive: random.chance(0.15)
      ? { ...(random.chance(0.5) && { name: randomName(random, 0.1) }), ...(random.chance(0.5) && { max_rows: random.integer(0, 3) }) }
      : null,
    callableBy: random.chance(0.8) ? null : random.subset(roles, 0.5),
  });
}

function randomBody(random: RandomSource, schema: SchemaDescription, declared: readonly ColumnType[]): RoutineBody {
  const kind = random.integer(0, 12);
  const table = random.pick(schema.tables);
  const change = kind > 9 ? randomChange(random, random.pick(schema.tables), schema.foreignKeys) : undefined;
  if (change) return change;
  if (kind < 2) return { kind: 'all rows', table };
  if (kind < 6) return { kind: kind < 5 ? 'text of a column' : 'copies of a column', table, column: random.pick(table.columns).name };
  if (kind === 6) return { kind: 'echo', type: randomAttributeType(random, declared) };
  const returns = random.pick(['setof', 'table', 'out'] as const);
  const columns = Array.from({ length: returns === 'setof' ? 1 : random.integer(2, 3) }, (_, index) => ({
    name: ['total', 'place', 'Third'][index]!,
    type: randomAttributeType(random, declared),
  }));
  const value = ({ type }: { readonly type: ColumnType }) => (random.chance(0.2) ? null : random.pick(type.values));
  return { kind: 'constants', returns, columns, rows: Array.from({ length: random.integer(1, 5) }, () => columns.map(value)) };
}

/** A column that belongs to no key, by the only column of the key; undefined where there are no such. */
function randomChange(
  random: RandomSource,
  table: TableDescription,
  foreignKeys: readonly ForeignKeyDescription[],
): RoutineBody | undefined {
  const { columns, primaryKey, uniqueKeys, uniqueIndexes, view } = table;
  const [key] = primaryKey;
  const used = new Set([
    ...primaryKey,
    ...uniqueKeys.flat(),
    ...uniqueIndexes.flatMap((index) => index.columns),
    ...foreignKeys.filter(({ local }) => local === table).flatMap(({ localColumns }) => localColumns),
  ]);
  const free = columns.filter(({ name, type, generatedSql }) => !used.has(name) && generatedSql === null && !type.isRow && !type.range);
  const isPlain = primaryKey.length === 1 && !columnOf(table, key!).type.range;
  if (view || !isPlain || free.length === 0) return undefined;
  return { kind: 'set column', table, changed: random.pick(free).name, key: key!, returns: random.pick(['rows', 'row', 'count']) };
}

function argumentsOf(random: RandomSource, body: RoutineBody): RoutineDescription['arguments'] {
  switch (body.kind) {
    case 'text of a column':
      return random.chance(0.3) ? [{ name: 'sep', type: textType, defaultSql: random.chance(0.5) ? "'-'" : null }] : [];
    case 'copies of a column':
      return [{ name: 'times', type: integerType, defaultSql: random.chance(0.3) ? '2' : null }];
    case 'constants':
      return [{ name: 'most', type: integerType, defaultSql: random.chance(0.3) ? '3' : null }];
    case 'echo':
      return [{ name: 'given', type: body.type, defaultSql: null }];
    case 'set column':
      return [
        { name: 'given', type: columnOf(body.table, body.changed).type, defaultSql: null },
        { name: 'key', type: columnOf(body.table, body.key).type, defaultSql: null },
      ];
    case 'all rows':
      return [];
  }
}
