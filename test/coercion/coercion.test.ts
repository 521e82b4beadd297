/** Lenient coercion means what the corrected document means under strict coercion. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { PGlite } from '@electric-sql/pglite';
import { execute, graphql, parse } from 'graphql';
import { describeExplanation } from '../../src/cli/output/describe-explanation.ts';
import { createRowgraph, type Event, type ExecutionResult, type GraphQLRequest, type Rowgraph } from '../../src/index.ts';
import { RandomSource } from '../property/random-source.ts';
import { startPgliteGraph } from '../support/pglite-graph.ts';
import { TwinDocuments, type Twins } from './twin-documents.ts';

const rows = `
  insert into vote values
    (1, '10000000-0000-4000-8000-000000000001', 'UP', 1.5, '2026-01-02 03:04:05+00', '2026-01-02', '03:04:05', 0.5, true, 'a', 10, '10.0.0.1'),
    (2, '10000000-0000-4000-8000-000000000002', 'DOWN', 2.25, '2026-02-02 03:04:05+00', '2026-02-02', '04:04:05', 1.5, false, 'DOWN', 20, null),
    (3, null, 'UP', null, null, null, null, null, null, null, 30, '10.0.0.1');`;
const schema = `
  create type direction as enum ('UP', 'DOWN', 'half-way');
  create table vote (id bigint primary key, owner uuid, direction direction not null, weight numeric, cast_at timestamptz, day date, hour time,
    ratio float8, counted boolean, note text, seconds int, address inet, details jsonb);
  create type state as enum ('todo', 'a b', 'true'); create type step as enum ('todo', 'in-progress');
  comment on type step is '@graphql({"mappings": {"in-progress": "IN_PROGRESS"}})';
  create table task (id int primary key, state state, step step);
  create schema quiet; create type quiet.light as enum ('on', 'off'); create table quiet.lamp (id int primary key, light quiet.light);
  grant usage on schema quiet to service_role; grant all on all tables in schema quiet to service_role;
  -- Errors name values of enums only where introspection does.
  comment on schema public is '@graphql({"introspection": true})';
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

  it('names the place in errors about values', async () => {
    const query = `query ($x: String) { a: voteCollection(filter: {note: {eq: $x}}) { edges { cursor } }
      b: voteCollection(filter: {direction: {eq: $x}}) { edges { cursor } } }`;
    const { errors } = await lenient.execute({ query, variables: { x: 'SIDEWAYS' } }, caller);
    assert.deepEqual(errors, [
      {
        message:
          'Variable "$x" got an invalid value: Value "SIDEWAYS" does not exist in "direction" enum. Send "UP" or "DOWN" or "half-way" for filter.direction.eq of "voteCollection".',
        locations: [{ line: 2, column: 7 }],
        path: ['b'],
        extensions: { code: 'BAD_USER_INPUT', input: 'filter.direction.eq' },
      },
    ]);
    const insert =
      'mutation ($d: String!) { insertIntovoteCollection(objects: [{id: 9, direction: UP}, {id: 10, direction: $d}]) { affectedCount } }';
    const refused = await lenient.execute({ query: insert, variables: { d: 'SIDEWAYS' } }, caller);
    assert.deepEqual(refused.errors?.[0]?.extensions, { code: 'BAD_USER_INPUT', input: 'objects[1].direction' });
    const unread = await lenient.execute(
      { query: 'query ($u: String!) { voteCollection(filter: {owner: {eq: $u}}) { edges { cursor } } }', variables: { u: 'me' } },
      caller,
    );
    assert.deepEqual(unread.errors?.[0]?.path, ['voteCollection']);
    const literal = await lenient.execute(
      { query: '{ voteCollection(filter: {direction: {eq: "SIDEWAYS"}}) { edges { cursor } } }' },
      caller,
    );
    assert.deepEqual(literal.errors, [
      {
        message:
          'Value "SIDEWAYS" does not exist in "direction" enum. Write UP or DOWN, without quotes, or "half-way" for filter.direction.eq of "voteCollection".',
        locations: [{ line: 1, column: 43 }],
        extensions: { code: 'GRAPHQL_VALIDATION_FAILED' },
      },
    ]);
  });

  describe('a value that an enum does not have', () => {
    const ask = async (graph: Rowgraph, query: string, variables?: Record<string, unknown>) => {
      const { errors } = await graph.execute({ query, variables }, caller);
      return [errors?.[0]?.message, errors?.[0]?.extensions.code, errors?.[0]?.extensions.input];
    };
    const states = 'Send "todo" or "a b" or "true"';
    const steps = 'Send "todo" or "IN_PROGRESS"';

    it('is an error that names the place and the values, whether or not it is a legal name', async () => {
      const insert = (variable: string, field: string) =>
        `mutation ${variable} { insertIntotaskCollection(objects: [{id: 6, ${field}: $v}]) { affectedCount } }`;
      for (const v of ['x', '', 'a  b', '1', '__x', 'null', 'in-progress']) {
        const [shown, name] = [JSON.stringify(v), v === 'in-progress' ? 'step' : 'state'];
        const place = `objects[0].${name}`;
        const wrong = `Variable "$v" got an invalid value: Value ${shown} does not exist in "${name}" enum.`;
        const send = name === 'step' ? steps : states;
        const used = `${send} for objects.${name} of "insertIntotaskCollection".`;
        assert.deepEqual(await ask(lenient, insert('($v: String)', name), { v }), [`${wrong} ${used}`, 'BAD_USER_INPUT', place]);
        assert.deepEqual(await ask(lenient, insert(`($v: ${name})`, name), { v }), [`${wrong} ${send}.`, 'BAD_USER_INPUT', place]);
        assert.deepEqual(await ask(strict, insert(`($v: ${name})`, name), { v }), [wrong, 'BAD_USER_INPUT', place]);
      }
    });

    it('has its place in objects and lists', async () => {
      const insert = 'mutation ($v: [taskInsertInput!]!) { insertIntotaskCollection(objects: $v) { affectedCount } }';
      assert.deepEqual(await ask(lenient, insert, { v: [{ id: 6 }, { id: 7, step: 'in-progress' }] }), [
        `Variable "$v" got an invalid value at "v[1].step": Value "in-progress" does not exist in "step" enum. ${steps}.`,
        ...['BAD_USER_INPUT', 'objects[1].step'],
      ]);
      const list = (type: string) => `query ($v: ${type}) { taskCollection(filter: {and: [{state: {in: $v}}]}) { edges { cursor } } }`;
      const at = 'Variable "$v" got an invalid value at "v[1]": Value "" does not exist in "state" enum.';
      const input = 'filter.and[0].state.in[1]';
      assert.deepEqual(await ask(lenient, list('[state!]'), { v: ['todo', ''] }), [`${at} ${states}.`, 'BAD_USER_INPUT', input]);
      assert.deepEqual(await ask(lenient, list('[String!]'), { v: ['a b', ''] }), [
        `${at} ${states} for filter.and.state.in[1] of "taskCollection".`,
        ...['BAD_USER_INPUT', input],
      ]);
    });

    it('is an error of the document if it is a literal', async () => {
      const filter = (name: string, text: string) => `{ taskCollection(filter: {${name}: {eq: "${text}"}}) { edges { cursor } } }`;
      for (const text of ['zz zz', '2', ''])
        assert.deepEqual(await ask(lenient, filter('step', text)), [
          `Value "${text}" does not exist in "step" enum. Write todo or IN_PROGRESS, without quotes, for filter.step.eq of "taskCollection".`,
          ...['GRAPHQL_VALIDATION_FAILED', undefined],
        ]);
      assert.match(
        String((await ask(lenient, filter('step', 'in-progress')))[0]),
        /Did you mean the enum value "IN_PROGRESS"\? Write todo or IN_PROGRESS, /,
      );
      const [message] = await ask(lenient, filter('state', ''));
      assert.match(String(message), /Write todo, without quotes, or "a b" or "true" for filter\.state\.eq of "taskCollection"\.$/);
      const labels = '{ taskCollection(filter: {or: [{state: {eq: "a b"}}, {state: {eq: "true"}}]}) { edges { cursor } } }';
      assert.deepEqual((await lenient.execute({ query: labels }, caller)).errors, undefined);
    });

    it('is refused without the others where the role may not introspect', async () => {
      const graph = await createRowgraph({ database: pglite, schemas: ['quiet'] });
      try {
        const query = 'query ($v: light) { lampCollection(filter: {light: {eq: $v}}) { edges { cursor } } }';
        assert.deepEqual(await ask(graph, query, { v: '' }), [
          'Variable "$v" got an invalid value: Value "" does not exist in "light" enum. Send a value of this enum.',
          ...['BAD_USER_INPUT', 'filter.light.eq'],
        ]);
      } finally {
        await graph.close();
      }
    });
  });

  it('names the place in the value of a variable of a query', async () => {
    const filtered = 'query ($f: voteFilter) { votes: voteCollection(filter: {or: [{id: {eq: 9}}, $f]}) { edges { cursor } } }';
    const { errors } = await lenient.execute(
      { query: filtered, variables: { f: { and: [{ id: { eq: 1 } }, { seconds: { eq: 'x' } }] } } },
      caller,
    );
    const remedy = 'Send a whole number, without quotes, for filter.or.and[1].seconds.eq of "voteCollection".';
    const problem = 'Int cannot represent non-integer value: "x".';
    assert.deepEqual(errors, [
      {
        message: `Variable "$f" got an invalid value at "f.and[1].seconds.eq": ${problem} ${remedy}`,
        locations: [{ line: 1, column: 26 }],
        path: ['votes'],
        extensions: { code: 'BAD_USER_INPUT', input: 'filter.or[1].and[1].seconds.eq' },
      },
    ]);
    const ordered = 'query ($o: [voteOrderBy!]) { voteCollection(orderBy: $o) { edges { cursor } } }';
    const [error] =
      (await strict.execute({ query: ordered, variables: { o: [{ id: 'AscNullsLast' }, { day: 'Up' }] } }, caller)).errors ?? [];
    assert.equal(error?.message, 'Variable "$o" got an invalid value at "o[1].day": Value "Up" does not exist in "OrderByDirection" enum.');
    assert.equal(error?.extensions.input, 'orderBy[1].day');
  });

  it('takes labels that are no names, and numbers for BigFloat', async () => {
    const label = '{ voteCollection(filter: {direction: {eq: "half-way"}}) { edges { node { id } } } }';
    assert.deepEqual((await lenient.execute({ query: label }, caller)).data, { voteCollection: { edges: [] } });
    assert.equal((await strict.execute({ query: label }, caller)).errors?.[0]?.extensions.code, 'GRAPHQL_VALIDATION_FAILED');
    const choice = '{ voteCollection(orderBy: [{id: "half-way"}]) { edges { node { id } } } }';
    assert.match(
      (await lenient.execute({ query: choice }, caller)).errors?.[0]?.message ?? '',
      /^Value "half-way" does not exist in "OrderByDirection"/,
    );
    const number =
      'query ($w: BigFloat, $f: voteFilter) { voteCollection(filter: {and: [{weight: {gt: $w}}, $f, {weight: {lt: 2.5}}]}) { edges { node { id } } } }';
    const variables = { w: 1, f: { weight: { in: [2.25, 1.5] } } };
    assert.deepEqual((await lenient.execute({ query: number, variables }, caller)).data, {
      voteCollection: { edges: [{ node: { id: '1' } }, { node: { id: '2' } }] },
    });
    const exact = 'query ($w: BigFloat) { voteCollection(filter: {weight: {gt: $w}}) { edges { node { id } } } }';
    assert.equal((await strict.execute({ query: exact, variables: { w: 1 } }, caller)).errors?.[0]?.extensions.code, 'BAD_USER_INPUT');
  });

  it('reports a document once, and compiles it once per variant', async () => {
    const query = 'query Owned($u: String!) { voteCollection(filter: {owner: {eq: $u}}) { edges { node { id } } } }';
    const seen: Event[] = [];
    const graph = await createRowgraph({ database: pglite, observe: (event) => event.kind === 'document-mismatched' && seen.push(event) });
    try {
      const ask = (number: number) => graph.execute({ query, variables: { u: `10000000-0000-4000-8000-00000000000${number}` } }, caller);
      for (const number of [1, 2])
        assert.deepEqual((await ask(number)).data, { voteCollection: { edges: [{ node: { id: String(number) } }] } });
      const cacheOf = (wanted: string) => graph.readCaches().find(({ name }) => name === wanted);
      assert.deepEqual([cacheOf('document')?.entries, cacheOf('variant')?.entries], [1, 1]);
      await graph.reload();
      await ask(1);
      const mismatches = ['$u is declared String!, but filter.owner.eq of "voteCollection" takes UUID: declare it as UUID!'];
      const hash = createHash('sha256').update(query).digest('hex');
      assert.deepEqual(seen, [{ kind: 'document-mismatched', hash, operations: ['Owned'], mismatches }]);
      assert.deepEqual(await graph.findMismatches(query, caller), mismatches);
      const explanation = await graph.explain({ query, variables: { u: '10000000-0000-4000-8000-000000000001' } }, caller, { mode: 'sql' });
      assert.deepEqual(explanation.mismatches, mismatches);
      assert.match(
        describeExplanation(explanation),
        /\n--coercion strict would refuse it\n {2}\$u is declared String!, but [^\n]+\n\nCost\n/,
      );
      assert.deepEqual(await graph.findMismatches('{ nonsense }', caller), []);
      assert.deepEqual(await strict.findMismatches(query, caller), []);
    } finally {
      await graph.close();
    }
  });

  it('counts the values at each place against the limits', async () => {
    const places = ['note: {eq: $x}', 'owner: {eq: $x}', 'address: {eq: $x}'];
    const query = `query ($x: String) { voteCollection(filter: {or: [${places.map((place) => `{${place}}`).join(', ')}]}) { edges { cursor } } }`;
    const list = `query ($x: [String!]) { voteCollection(filter: {or: [{note: {in: $x}}, {id: {in: $x}}]}) { edges { node { id } } } }`;
    const graph = await createRowgraph({ database: pglite, roleLimits: { service_role: { inputSize: 100, listElements: 12 } } });
    try {
      const codeOf = async (query: string, x: unknown) =>
        (await graph.execute({ query, variables: { x } }, caller)).errors?.[0]?.extensions.code;
      assert.equal(await codeOf(query, 'a text of more than thirty-three characters'), 'INPUT_TOO_LARGE');
      // Two in the document, and five at each place.
      assert.equal(await codeOf(list, ['1', '2', '3', '4', '5']), undefined);
      assert.equal(await codeOf(list, ['1', '2', '3', '4', '5', '6']), 'TOO_MANY_ELEMENTS');
    } finally {
      await graph.close();
    }
  });

  it('is the same on a connection of the caller', async () => {
    const request = { query: 'query ($i: Int!) { voteCollection(filter: {id: {eq: $i}}) { edges { node { id } } } }', variables: { i: 2 } };
    assert.deepEqual(await lenient.resolve(pglite, request), { data: { voteCollection: { edges: [{ node: { id: '2' } }] } } });
    assert.equal((await strict.resolve(pglite, request)).errors?.[0]?.extensions.code, 'GRAPHQL_VALIDATION_FAILED');
  });

  it('does not change what other servers validate, but what they send on', async () => {
    const schema = await lenient.schema(caller);
    const source = 'query ($u: String!) { voteCollection(filter: {owner: {eq: $u}}) { edges { node { id } } } }';
    const variableValues = { u: '10000000-0000-4000-8000-000000000002' };
    const [error] = (await graphql({ schema, source, variableValues })).errors ?? [];
    assert.match(error?.message ?? '', /used in position expecting type "UUID"/);
    const unvalidated = await execute({ schema, document: parse(source), variableValues });
    assert.deepEqual(JSON.parse(JSON.stringify(unvalidated)), { data: { voteCollection: { edges: [{ node: { id: '2' } }] } } });
  });

  async function runMutation(graph: Rowgraph, request: GraphQLRequest): Promise<ExecutionResult> {
    await pglite.exec(`truncate vote; ${rows}`);
    return graph.execute(request, caller);
  }

  for (const [kind, count] of [
    ['query', 200],
    ['mutation', 70],
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
  return message.replaceAll(/\$\w+|(?<= at ")\w+/g, '$');
}
