/** Lenient coercion means what the corrected document means under strict coercion. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { PGlite } from '@electric-sql/pglite';
import { createRowgraph, type ExecutionResult, type GraphQLRequest, type Rowgraph } from '../../src/index.ts';
import { RandomSource } from '../property/random-source.ts';
import { startPgliteGraph } from '../support/pglite-graph.ts';
import { TwinDocuments, type Twins } from './twin-documents.ts';

const rows = `
  insert into vote values
    (1, '10000000-0000-4000-8000-000000000001', 'UP', 1.5, '2026-01-02 03:04:05+00', '2026-01-02', '03:04:05', 0.5, true, 'a', 10, '10.0.0.1'),
    (2, '10000000-0000-4000-8000-000000000002', 'DOWN', 2.25, '2026-02-02 03:04:05+00', '2026-02-02', '04:04:05', 1.5, false, 'DOWN', 20, null),
    (3, null, 'UP', null, null, null, null, null, null, null, 30, '10.0.0.1');`;
const schema = `
  create type direction as enum ('UP', 'DOWN');
  create table vote (id bigint primary key, owner uuid, direction direction not null, weight numeric, cast_at timestamptz, day date, hour time,
    ratio float8, counted boolean, note text, seconds int, address inet, details jsonb);
  ${rows}`;
const caller = { role: 'service_role' };

describe('lenient coercion', () => {
  let pglite: PGlite;
  let lenient: Rowgraph;
  let strict: Rowgraph;
  let stop: () => Promise<void>;
  before(async () => {
    ({ pglite, graph: lenient, stop } = await startPgliteGraph(schema));
    strict = await createRowgraph({ database: pglite, coercion: 'strict' });
  });
  after(async () => {
    await strict.close();
    await stop();
  });

  async function runMutation(graph: Rowgraph, request: GraphQLRequest): Promise<ExecutionResult> {
    await pglite.exec(`truncate vote; ${rows}`);
    return graph.execute(request, caller);
  }

  for (const [kind, count] of [
    ['query', 500],
    ['mutation', 150],
  ] as const) {
    it(`answers a ${kind} as strict coercion answers the corrected one`, async () => {
      const twins = new TwinDocuments(new RandomSource(kind === 'query' ? 1 : 2));
      const counts = { data: 0, errors: 0, refusedByStrict: 0 };
      for (let index = 0; index < count; index += 1) {
        const pair = twins.next(kind);
        const run = (graph: Rowgraph, request: GraphQLRequest) =>
          kind === 'query' ? graph.execute(request, caller) : runMutation(graph, request);
        const expected = await run(strict, pair.strict);
        const got = await run(lenient, pair.lenient);
        compare(pair, expected, got, index);
        counts[expected.errors === undefined ? 'data' : 'errors'] += 1;
        const [refusal] = await strict.validate(pair.lenient.query, caller);
        if (refusal !== undefined) counts.refusedByStrict += 1;
      }
      // Otherwise the documents would show little.
      assert.ok(counts.data > count / 2 && counts.errors > count / 10 && counts.refusedByStrict > count / 2, JSON.stringify(counts));
    });
  }
});

function compare(pair: Twins, expected: ExecutionResult, got: ExecutionResult, index: number): void {
  const shown = `${index}\n${JSON.stringify(pair, null, 1)}\nexpected ${JSON.stringify(expected)}\ngot ${JSON.stringify(got)}`;
  assert.deepEqual(got.data, expected.data, shown);
  const [error, other] = [got.errors?.[0], expected.errors?.[0]];
  assert.equal(error?.extensions.code, other?.extensions.code, shown);
  assert.deepEqual(error?.path, other?.path, shown);
  assert.ok(withoutNames(error?.message ?? '').startsWith(withoutNames(other?.message ?? '')), shown);
}

/** The twins have different variables. */
function withoutNames(message: string): string {
  return message.replaceAll(/\$\w+/g, '$');
}
