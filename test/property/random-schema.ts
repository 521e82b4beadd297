/**
 * A random schema: tables with keys and foreign keys, views, types, comment directives, privileges, row level security and rows.
 */
import { arrayOf, availableTypes, type ColumnType } from './column-types.ts';
import { FreshNames, randomName } from './hostile-names.ts';
import { addAccess } from './random-access.ts';
import { addDirectives } from './random-directives.ts';
import { addForeignKeys } from './random-foreign-keys.ts';
import { addRoutines } from './random-routines.ts';
import { addRows } from './random-rows.ts';
import type { RandomSource } from './random-source.ts';
import { addRowColumns, addUniqueIndex, addView, randomTable } from './random-tables.ts';
import { randomTypes } from './random-types.ts';
import type { Directive, SchemaDescription } from './schema-description.ts';

/** The roles whose view of the schema is tested. */
export const roles = ['anon', 'authenticated', 'service_role'] as const;

/** Makes up a schema. The number keeps the names of schemas in one database apart; `extensions` are those that it has. */
export function randomSchema(random: RandomSource, number: number, extensions: ReadonlySet<string>): SchemaDescription {
  const name = `${[...randomName(random, 0.4)].slice(0, 15).join('')}_${number}`;
  const relationNames = new FreshNames();
  const { types, ...declared } = randomTypes(random, name, relationNames);
  const schema: SchemaDescription = {
    name,
    directive: schemaDirective(random),
    ...declared,
    tables: [],
    foreignKeys: [],
    routines: [],
    usableBy: roles.filter(() => random.chance(0.97)),
  };
  addTables(random, schema, relationNames, types, availableTypes(extensions));
  addForeignKeys(random, schema);
  const rowTypes = addRowColumns(random, schema, relationNames);
  addRows(random, schema);
  const viewCount = random.integer(0, 2);
  for (let count = 0; count < viewCount; count += 1) addView(random, schema, relationNames.take(random, 0.15));
  addDirectives(random, schema);
  addRoutines(random, schema, roles, [...types, ...rowTypes.map((type) => arrayOf(random, type))]);
  addAccess(random, schema, roles);
  return schema;
}

function addTables(
  random: RandomSource,
  schema: SchemaDescription,
  names: FreshNames,
  declared: readonly ColumnType[],
  others: readonly ColumnType[],
): void {
  const count = random.integer(2, 6);
  // One table that every client can name, so that no case is without an operation.
  for (let index = 0; index < count; index += 1) {
    const table = randomTable(random, names.take(random, index === 0 ? 0 : 0.15), declared, others);
    addUniqueIndex(random, table, index);
    schema.tables.push(table);
  }
}

function schemaDirective(random: RandomSource): Directive {
  return {
    ...(random.chance(0.6) && { inflect_names: random.chance(0.8) }),
    ...(random.chance(0.15) && { max_rows: random.integer(1, 6) }),
  };
}
