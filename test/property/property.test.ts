/**
 * Random schemas and operations against a separate evaluator. `ROWGRAPH_PROPERTY_CASES` says how many cases (default 50),
 * `ROWGRAPH_PROPERTY_SEED` the seed of the first (`random`: another one each time, which is printed), `ROWGRAPH_PROPERTY_DATABASE` where: `postgres` or `pglite`.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type DatabaseKind, startDatabaseSource } from '../conformance/case-database.ts';
import { runCase } from './run-case.ts';

const {
  ROWGRAPH_PROPERTY_CASES: cases = '50',
  ROWGRAPH_PROPERTY_SEED: seed = '1',
  ROWGRAPH_PROPERTY_DATABASE: kind = 'postgres',
} = process.env;
/** Cases that share a database: a schema that was dropped leaves something behind. */
const casesOfDatabase = 100;
/** What random schemas use where there is such an extension. */
const usedExtensions = ['ltree', 'pg_trgm', 'postgis', 'vector'];
/** A few failures tell as much as all. */
const mostFailures = 5;

test(`random schemas and operations (${cases} cases)`, { timeout: 24 * 3_600_000 }, async (context) => {
  const firstSeed = seed === 'random' ? Math.floor(Math.random() * 2 ** 31) : Number(seed);
  context.diagnostic(`the first seed is ${firstSeed}`);
  const source = await startDatabaseSource(kind as DatabaseKind);
  const extensions = usedExtensions.filter((name) => source.extensions.has(name));
  const failures: string[] = [];
  let operations = 0;
  try {
    for (let number = 0; number < Number(cases) && failures.length < mostFailures; ) {
      const database = await source.open();
      await database.run(extensions.map((name) => `create extension ${name};`).join(''));
      const end = Math.min(number + casesOfDatabase, Number(cases));
      try {
        for (; number < end && failures.length < mostFailures; number += 1) {
          await runCase(database, firstSeed + number, number, new Set(extensions)).then(
            (count) => {
              operations += count;
            },
            (error: Error) => failures.push(error.message),
          );
        }
      } finally {
        await database.close();
      }
    }
  } finally {
    await source.stop();
  }
  context.diagnostic(`${operations} operations were compared`);
  assert.equal(failures.length, 0, `\n${failures.join('\n\n======\n\n')}`);
});
