/**
 * One case: a random schema is made in the database, loaded by rowgraph and checked for one or two roles. Mostly, all additions are on. Random schemas
 * have no arrays and geography of PostGIS, and no functions that return rows of other values; nothing streams.
 */
import { createRowgraph } from '../../src/index.ts';
import { type AdditionName, additionNames } from '../../src/settings/additions.ts';
import type { CaseDatabase } from '../conformance/case-database.ts';
import { readModels } from './case-context.ts';
import { checkRole } from './check-role.ts';
import { describeFailure } from './property-failure.ts';
import { randomSchema, roles } from './random-schema.ts';
import { RandomSource } from './random-source.ts';
import { dropStatement, schemaStatements } from './schema-sql.ts';

/**
 * Runs the case of a seed. `extensions`: what the database has. Rejects with a report of what does not hold. Resolves to the number of operations that were
 * compared.
 */
export async function runCase(database: CaseDatabase, seed: number, number: number, extensions: ReadonlySet<string>): Promise<number> {
  const random = new RandomSource(seed);
  const schema = randomSchema(random, number, extensions);
  const statements = schemaStatements(schema);
  const json = random.chance(0.25) ? 'object' : 'string';
  const chosen = random.sample(roles, random.chance(0.7) ? 1 : 2);
  const additions = new Set(randomAdditions(random));
  try {
    await database.run(statements.join(';\n'));
    const models = await readModels(database.target, schema, chosen, additions);
    const options = {
      schemas: [schema.name],
      introspection: 'on',
      poolSize: 1,
      limits: { estimatedRows: Infinity },
      json,
      additions: [...additions],
    } as const;
    const graph = await createRowgraph({ database: database.target, ...options });
    try {
      let count = 0;
      for (const model of models) count += await checkRole({ database, schema, graph, json }, model, random);
      return count;
    } finally {
      await graph.close();
    }
  } catch (error) {
    throw new Error(describeFailure(error, seed, statements), { cause: error });
  } finally {
    await database.run(dropStatement(schema));
  }
}

/** Without a few additions, or without any, as in pg_graphql. */
function randomAdditions(random: RandomSource): readonly AdditionName[] {
  if (random.chance(0.75)) return additionNames;
  if (random.chance(0.3)) return [];
  const off = random.sample(additionNames, random.integer(1, 4));
  return additionNames.filter((name) => !off.includes(name));
}
