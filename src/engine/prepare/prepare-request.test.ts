/** Many requests at once that nothing is cached for: how few are prepared at a time, and in which order. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LRUCache } from 'lru-cache';
import { sampleModel } from '../../../test/support/sample-model.ts';
import { noLimits } from '../../budget/limits.ts';
import { runAtOnce } from '../../budget/turns.ts';
import { buildSchema } from '../../schema/build-schema.ts';
import { SchemaCacheUses } from '../snapshot/caches.ts';
import type { CachedDocument, RoleSchema } from '../snapshot/role-schema.ts';
import { findPrepared, prepareRequest } from './prepare-request.ts';

const cacheSizes = { documents: 1000, documentText: 1e7, variants: 1000, variantText: 1e8 } as never;

/** A role that may use the sample model, with empty caches. */
function roleSchemaOf(): RoleSchema {
  const types = { model: sampleModel, schema: runAtOnce(buildSchema(sampleModel)), introspected: null };
  const granted = {
    types: () => Promise.resolve(types),
    keeps: () => true,
    version: null,
    documents: new LRUCache<string, CachedDocument>({ max: 1000 }),
    cacheSizes,
    uses: new SchemaCacheUses(),
    noteGrowth: () => {},
  };
  return { role: { refusal: null, limits: noLimits }, granted } as unknown as RoleSchema;
}

test('of many requests in one turn of the event loop, only those are prepared for which it has time', async (context) => {
  const roleSchema = roleSchemaOf();
  // In a turn of its own, and later than whatever else has run in this process.
  await new Promise((resolve) => setImmediate(resolve));
  let time = performance.now();
  context.mock.method(performance, 'now', () => time++);
  const prepared = Array.from({ length: 50 }, (_, index) => prepareRequest(roleSchema, { query: `{ a${index}: __typename }` }));
  // What needs no more than a microtask is done in this turn.
  for (let count = 0; count < 100; count++) await Promise.resolve();
  const atOnce = roleSchema.granted.documents.size;
  assert.ok(atOnce > 0 && atOnce < 10, `${atOnce} were prepared at once`);
  const results = await Promise.all(prepared);
  assert.deepEqual(
    results.map(({ compiled }) => compiled.roots[0]?.key),
    results.map((_, index) => `a${index}`),
  );
  assert.equal(
    findPrepared(roleSchema, { query: '{ a0: __typename }' }, {})?.compiled,
    results[0]?.compiled,
    'what is cached needs no turn',
  );
});

/** A short document that fragments expand to 4,096 fields. Each variable makes another variant of it. */
function writeSpreads(): string {
  const flags = Array.from({ length: 7 }, (_, index) => `f${index}`);
  const fragments = Array.from(
    { length: 11 },
    (_, index) => `fragment s${index} on Query { a: __typename ...s${index + 1} ...s${index + 1} }`,
  );
  const ending = `fragment s11 on Query { b: __typename ${flags.map((flag) => `${flag}: __typename @include(if: $${flag})`).join(' ')} }`;
  return `query(${flags.map((flag) => `$${flag}: Boolean!`).join(', ')}) { ...s0 } ${fragments.join('\n')} ${ending}`;
}

test('clients take turns with long operations', async () => {
  const roleSchema = roleSchemaOf();
  const query = writeSpreads();
  const finished: string[] = [];
  const prepare = async (client: string, number: number): Promise<void> => {
    const variables = Object.fromEntries(Array.from({ length: 7 }, (_, bit) => [`f${bit}`, (number & (1 << bit)) !== 0]));
    const { operation } = await prepareRequest(roleSchema, { query, variables }, { client });
    assert.ok(operation.counts.fields > 4000, `${operation.counts.fields} fields`);
    finished.push(client);
  };
  const busy = Array.from({ length: 100 }, (_, number) => prepare('busy', number));
  await Promise.all([...busy, prepare('other', 100)]);
  const position = finished.indexOf('other');
  assert.ok(position >= 0 && position < 20, `the other client was served after ${position} of the requests of the busy one`);
  assert.equal(finished.length, 101);
});
