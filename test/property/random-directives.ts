/** Random comment directives: names that may be illegal or taken, page sizes, counts and aggregates, descriptions. */
import { randomName } from './hostile-names.ts';
import type { RandomSource } from './random-source.ts';
import type { SchemaDescription } from './schema-description.ts';

/** Adds directives to tables and columns. */
export function addDirectives(random: RandomSource, schema: SchemaDescription): void {
  for (const table of schema.tables) {
    table.directive = {
      ...table.directive,
      ...(random.chance(0.12) && { name: randomName(random, 0.1) }),
      ...(random.chance(0.15) && { max_rows: random.integer(0, 5) }),
      ...(random.chance(0.6) && { totalCount: { enabled: random.chance(0.9) } }),
      ...(random.chance(0.6) && { aggregate: { enabled: random.chance(0.9) } }),
      ...(random.chance(0.1) && { description: `About "${randomName(random, 1)}"` }),
    };
    for (const column of table.columns) {
      if (random.chance(0.08))
        column.directive = { name: randomName(random, 0.1), ...(random.chance(0.3) && { description: randomName(random, 1) }) };
    }
  }
}
