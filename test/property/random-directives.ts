/** Random comment directives: names that may be illegal or taken, page sizes, counts and aggregates, descriptions. */
import { randomName } from './hostile-names.ts';
import { addShape } from './random-shapes.ts';
import type { RandomSource } from './random-source.ts';
import type { Directive, SchemaDescription, TableDescription } from './schema-description.ts';

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
    const search = randomSearchDirective(random, table);
    if (search) table.directive = { ...table.directive, search };
    for (const column of table.columns) {
      addShape(random, column, `${table.name}.${column.name}`, schema.composites);
      if (random.chance(0.08))
        column.directive = {
          ...column.directive,
          name: randomName(random, 0.1),
          ...(random.chance(0.3) && { description: randomName(random, 1) }),
        };
    }
  }
}

/** What is searched: some texts with weights or without, or a column of type tsvector. */
function randomSearchDirective(random: RandomSource, { columns }: TableDescription): Directive | null {
  const config = random.chance(0.6) ? { config: random.pick(['english', 'simple']) } : {};
  const texts = columns.filter(({ type }) => type.scalar === 'String' && !type.isArray).map(({ name }) => name);
  const vectors = columns.filter(({ type }) => type.sql === 'tsvector').map(({ name }) => name);
  if (vectors.length > 0 && random.chance(0.4)) return random.chance(0.5) ? { column: random.pick(vectors), ...config } : config;
  if (texts.length === 0 || random.chance(0.6)) return null;
  const searched = random.sample(texts, random.pick([1, 1, 2, 3]));
  if (random.chance(0.3)) return { columns: searched, ...config };
  return { columns: Object.fromEntries(searched.map((name) => [name, random.pick(['A', 'B', 'C', 'D'])])), ...config };
}
