/** Random functions: all rows of a table as a collection, and computed fields that show a column in other words. */
import { FreshNames, randomName } from './hostile-names.ts';
import type { RandomSource } from './random-source.ts';
import type { RoutineDescription, SchemaDescription } from './schema-description.ts';

/** Adds functions, mostly for all roles. */
export function addRoutines(random: RandomSource, schema: SchemaDescription, roles: readonly string[]): void {
  const names = new FreshNames();
  const count = random.integer(0, 3);
  for (let number = 0; number < count; number += 1) {
    const table = random.pick(schema.tables);
    const routine: RoutineDescription = {
      name: names.take(random, 0.15),
      table,
      column: random.chance(0.6) ? random.pick(table.columns).name : null,
      directive: random.chance(0.15) ? { name: randomName(random, 0.1) } : null,
      callableBy: random.chance(0.8) ? null : random.subset(roles, 0.5),
    };
    schema.routines.push(routine);
  }
}
