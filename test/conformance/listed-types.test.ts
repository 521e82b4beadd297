/** The schemas of all vectors list no type of an addition to which nothing leads. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { buildSchema } from 'graphql';
import { createRowgraph } from '../../src/index.ts';
import { unusedTypes } from '../support/unused-types.ts';
import { type DatabaseSource, startDatabaseSource } from './case-database.ts';
import { findMissing, readCases, readVectors } from './read-cases.ts';

let source: DatabaseSource;
before(async () => {
  source = await startDatabaseSource('postgres');
});
after(() => source.stop());

const additions = path.join(import.meta.dirname, '../additions');

for (const conformanceCase of [...readVectors(), ...readCases('', additions)]) {
  const { file, setup, steps } = conformanceCase;
  test(file, async (t) => {
    const missing = findMissing(conformanceCase, source);
    if (missing !== null) return t.skip(missing);
    const database = await source.open();
    try {
      await database.run(setup);
      const schemas = [...new Set(['public', ...steps.flatMap((step) => ('sql' in step ? [] : (step.schemas ?? [])))])];
      const options = { database: database.target, schemas, poolSize: 1 };
      const [graph, reference] = [await createRowgraph(options), await createRowgraph({ ...options, dialect: 'pg_graphql' })];
      for (const role of ['service_role', 'anon'])
        assert.deepEqual(unusedTypes(buildSchema(await graph.sdl({ role })), buildSchema(await reference.sdl({ role }))), [], role);
      await graph.close();
      await reference.close();
    } finally {
      await database.close();
    }
  });
}
