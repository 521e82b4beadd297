/**
 * The arguments and filters of additions, with values that are made to harm: each is answered, or refused in words and with a code of its own,
 * within the deadline. None is an internal error, and the server still answers.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ExecutionResult } from '../../src/index.ts';
import { startTestGraph, type TestGraph } from '../support/test-graph.ts';

const schema = `
  create extension pg_trgm;
  create extension ltree;
  comment on schema public is '@graphql({"inflect_names": true})';
  create type spot as (x int, y int, tags text[]);
  create type inner_box as (spot spot, spots spot[], label text);
  create type outer_box as (box inner_box, boxes inner_box[], note text);
  create table doc (
    id int primary key, parent_id int references doc, title text, body text, kind text, details jsonb, path ltree, during int4range,
    busy int4multirange, at point, box outer_box, tags text[], tsv tsvector generated always as (to_tsvector('english', coalesce(body, ''))) stored
  );
  comment on table doc is '@graphql({"totalCount": {"enabled": true}, "aggregate": {"enabled": true}})';
  insert into doc (id, parent_id, title, body, kind, details, path, during, busy, at, tags)
    select n, nullif(n / 2, 0), 'title ' || n, repeat('red fish ', n % 7), 'k' || n % 5, jsonb_build_object('a', jsonb_build_array(n, n + 1)),
      ('Top.n' || n)::ltree, int4range(n, n + 9), int4multirange(int4range(n, n + 2)), point(n, n), array['x', 'y' || n % 3]
    from generate_series(1, 300) as n;
`;

type Variables = Readonly<Record<string, unknown>>;
type Attack = readonly [about: string, query: string, code: string | null, variables?: Variables];

const fields = '{ totalCount edges { cursor node { id } } }';
const filtered = (type: string, filter: string) => `query ($v: ${type}) { docCollection(filter: ${filter}, first: 3) ${fields} }`;
const paged = (type: string, argument: string) => `query ($v: ${type}) { docCollection(${argument}, first: 3) ${fields} }`;
const words = (count: number, between = ' ') => Array.from({ length: count }, (_, index) => `w${index}`).join(between);
const repeated = <Value>(count: number, value: Value) => Array.from({ length: count }, () => value);
/** JSON, or an input, that is nested. */
const nested = (depth: number, wrap: (inner: string) => string, core = '1') =>
  repeated(depth, wrap).reduce((inner, one) => one(inner), core);
const boxed = (width: number) => ({ spot: { x: 1, y: 2, tags: repeated(width, 'a') }, spots: repeated(width, { x: 1 }), label: 'b' });

const attacks: readonly Attack[] = [
  // Search.
  ['a search of 30,000 words', paged('String!', 'search: {text: $v}'), 'QUERY_TOO_COMPLEX', { v: words(30_000) }],
  ['a search of 20,000 alternatives', paged('String!', 'search: {text: $v}'), 'QUERY_TOO_COMPLEX', { v: words(20_000, ' or ') }],
  ['a search of 20,000 exclusions', paged('String!', 'search: {text: $v}'), 'QUERY_TOO_COMPLEX', { v: `-${words(20_000, ' -')}` }],
  ['a search of 100,000 quotes', paged('String!', 'search: {text: $v}'), 'QUERY_TOO_COMPLEX', { v: '"'.repeat(100_000) }],
  ['a search by 30,000 prefixes', paged('String!', 'search: {text: $v, mode: PREFIX}'), 'QUERY_TOO_COMPLEX', { v: words(30_000) }],
  ['a search with a null byte', paged('String!', 'search: {text: $v}'), null, { v: 'red\0fish' }],
  ['a search of nothing', paged('String!', 'search: {text: $v}'), null, { v: ' \u0301 ' }],
  // Nearest rows.
  ['the nearest of a text of 9,000 characters', paged('String!', 'nearest: {title: {to: $v}}'), null, { v: 'ab '.repeat(3_000) }],
  ['the nearest of half a point', paged('[Float!]!', 'nearest: {at: {to: $v}}'), 'BAD_USER_INPUT', { v: [1] }],
  ['the nearest of a point that is far', paged('[Float!]!', 'nearest: {at: {to: $v}}'), 'INVALID_VALUE', { v: [1.7e308, -1.7e308] }],
  ['the nearest of two columns', paged('[Float!]!', 'nearest: {at: {to: $v}, title: {to: "a"}}'), 'BAD_USER_INPUT', { v: [1, 2] }],
  // Fusion.
  ['a fusion without a second part', paged('Int', 'search: {text: "red"}, fuse: {k: $v}'), 'BAD_USER_INPUT', { v: 1 }],
  [
    'a fusion with a huge k',
    paged('Int', 'search: {text: "red"}, nearest: {title: {to: "title 1"}}, fuse: {k: $v}'),
    null,
    { v: 2147483647 },
  ],
  [
    'a fusion with a huge depth',
    paged('Int', 'search: {text: "red"}, nearest: {title: {to: "title 1"}}, fuse: {depth: $v}'),
    null,
    { v: 2147483647 },
  ],
  [
    'a fusion with a negative depth',
    paged('Int', 'search: {text: "red"}, nearest: {title: {to: "title 1"}}, fuse: {depth: $v}'),
    'BAD_USER_INPUT',
    { v: -1 },
  ],
  [
    'a fusion with a huge weight',
    paged('Float', 'search: {text: "red"}, nearest: {title: {to: "title 1"}}, fuse: {searchWeight: $v}'),
    'BAD_USER_INPUT',
    { v: 1.7e308 },
  ],
  [
    'a fusion with a negative weight',
    paged('Float', 'search: {text: "red"}, nearest: {title: {to: "title 1"}}, fuse: {searchWeight: $v}'),
    'BAD_USER_INPUT',
    { v: -1 },
  ],
  // Distinct rows.
  ['10,000 distinct columns', paged('[DocDistinctColumn!]', 'distinctOn: $v'), null, { v: repeated(10_000, 'kind') }],
  ['30,000 distinct columns', paged('[DocDistinctColumn!]', 'distinctOn: $v'), null, { v: repeated(30_000, 'kind') }],
  ['a distinct column that is none', paged('[DocDistinctColumn!]', 'distinctOn: $v'), 'BAD_USER_INPUT', { v: ['kind; drop table doc'] }],
  [
    'a cursor of other columns',
    paged('Cursor', 'distinctOn: [kind], after: $v'),
    'BAD_USER_INPUT',
    { v: Buffer.from('[1, 2, 3]').toString('base64') },
  ],
  ['distinct nearest rows', paged('[Float!]!', 'distinctOn: [kind], nearest: {at: {to: $v}}'), 'BAD_USER_INPUT', { v: [1, 2] }],
  // Ancestors and descendants.
  ['descendants as far as it goes', '{ docByPk(id: 1) { descendants(maxDepth: 2147483647, first: 3) { totalCount } } }', null],
  ['descendants of a negative distance', '{ docByPk(id: 1) { descendants(maxDepth: -1) { totalCount } } }', 'BAD_USER_INPUT'],
  [
    'descendants of descendants',
    `{ docByPk(id: 1) ${nested(12, (inner) => `{ descendants(first: 30) { edges { node ${inner} } } }`, '{ id }')} }`,
    null,
  ],
  [
    'filters by descendants of descendants',
    filtered(
      'Int',
      nested(60, (inner) => `{descendants: {some: ${inner}}}`, '{id: {eq: $v}}'),
    ),
    'QUERY_TOO_COMPLEX',
    { v: 1 },
  ],
  // JSON.
  [
    'JSON that is 20,000 deep',
    filtered('JSON', '{details: {contains: $v}}'),
    'QUERY_TOO_COMPLEX',
    { v: nested(20_000, (inner) => `[${inner}]`) },
  ],
  ['JSON that is none', filtered('JSON', '{details: {eq: $v}}'), 'INVALID_VALUE', { v: '{"a":' }],
  ['JSON with a null byte', filtered('JSON', '{details: {eq: $v}}'), 'BAD_USER_INPUT', { v: '"\\u0000"' }],
  ['a key with a null byte', filtered('String', '{details: {hasKey: $v}}'), null, { v: 'a\0b' }],
  ['10,000 keys', filtered('[String!]', '{details: {hasAnyKey: $v}}'), null, { v: words(10_000).split(' ') }],
  ['a path that is none', filtered('String!', '{details: {matches: {path: $v}}}'), 'INVALID_VALUE', { v: '$.a[' }],
  ['a path of 10,000 steps', filtered('String!', '{details: {matches: {path: $v}}}'), null, { v: `$${'.a'.repeat(10_000)}` }],
  [
    'a path that is 50,000 deep',
    filtered('String!', '{details: {matches: {path: $v}}}'),
    'INVALID_VALUE',
    { v: `$ ? (${'('.repeat(50_000)}@ > 1${')'.repeat(50_000)})` },
  ],
  [
    'a path with a regular expression that is none',
    filtered('String!', '{details: {matches: {path: $v}}}'),
    'INVALID_VALUE',
    { v: '$ ? (@ like_regex "(")' },
  ],
  ['a path with all descendants', filtered('String!', '{details: {matches: {path: $v}}}'), null, { v: `$${'.**'.repeat(200)}` }],
  [
    'a path of 10,000 keys',
    'query ($v: [String!]!) { docCollection(first: 3) { edges { node { details(path: $v) } } } }',
    null,
    { v: repeated(10_000, 'a') },
  ],
  [
    'a path with a null byte',
    'query ($v: [String!]!) { docCollection(first: 3) { edges { node { details(path: $v) } } } }',
    null,
    { v: ['a\0'] },
  ],
  [
    'an order by 10,000 keys',
    paged('[String!]!', 'orderBy: [{details: {path: $v, direction: AscNullsLast}}]'),
    'QUERY_TOO_COMPLEX',
    { v: repeated(10_000, 'a') },
  ],
  // ltree.
  ['a pattern that is none', filtered('Opaque', '{path: {matches: $v}}'), 'INVALID_VALUE', { v: '*{' }],
  ['a pattern of 70,000 labels', filtered('Opaque', '{path: {matches: $v}}'), 'QUERY_TOO_COMPLEX', { v: words(70_000, '.') }],
  ['a pattern with a huge repetition', filtered('Opaque', '{path: {matches: $v}}'), 'QUERY_TOO_COMPLEX', { v: '*{99999999999}' }],
  ['a pattern of 1,000 stars', filtered('Opaque', '{path: {matches: $v}}'), 'QUERY_TOO_COMPLEX', { v: `${'*.'.repeat(1_000)}none` }],
  ['10,000 patterns', filtered('[Opaque!]', '{path: {matchesAny: $v}}'), null, { v: repeated(10_000, '*.none') }],
  [
    'a text query that is 50,000 deep',
    filtered('Opaque', '{path: {matchesText: $v}}'),
    'QUERY_TOO_COMPLEX',
    { v: `${'('.repeat(50_000)}a${')'.repeat(50_000)}` },
  ],
  ['a path that is no ltree', filtered('Opaque', '{path: {descendantOf: $v}}'), 'INVALID_VALUE', { v: 'a..b' }],
  // Ranges.
  ['a range that is none', filtered('Opaque', '{during: {eq: $v}}'), 'INVALID_VALUE', { v: '[9,1)' }],
  [
    'a bound that is too great',
    filtered('IntRangeInput', '{during: {overlaps: $v}}'),
    'BAD_USER_INPUT',
    { v: { lower: 1, upper: 99999999999 } },
  ],
  [
    'a multirange of 5,000 ranges',
    filtered('[IntRangeInput!]', '{busy: {overlaps: $v}}'),
    null,
    { v: Array.from({ length: 5_000 }, (_, n) => ({ lower: 2 * n, upper: 2 * n + 1 })) },
  ],
  ['lists of more than two values', filtered('[Int!]', '{id: {between: $v}}'), 'BAD_USER_INPUT', { v: [1, 2, 3] }],
  ['10,000 values regardless of case', filtered('[String!]', '{title: {inI: $v}}'), null, { v: words(10_000).split(' ') }],
  ['a regular expression that takes long', filtered('String', '{tags: {any: {regex: $v}}}'), null, { v: `${'(x+x+)+'.repeat(10)}y{255}` }],
  // Composite types.
  [
    'a composite value with wide lists',
    'mutation ($v: OuterBoxInput) { insertIntoDocCollection(objects: [{id: 1000, box: $v}]) { affectedCount } }',
    null,
    { v: { box: boxed(5_000) } },
  ],
  [
    'a composite value with too wide lists',
    'mutation ($v: OuterBoxInput) { insertIntoDocCollection(objects: [{id: 1001, box: $v}]) { affectedCount } }',
    null,
    { v: { boxes: repeated(5_000, boxed(3)) } },
  ],
  [
    'a composite value of a wrong form',
    'mutation ($v: OuterBoxInput) { insertIntoDocCollection(objects: [{id: 1002, box: $v}]) { affectedCount } }',
    'BAD_USER_INPUT',
    { v: { box: { spot: { x: { y: { z: 1 } } } } } },
  ],
  [
    'a composite value with a null byte',
    'mutation ($v: OuterBoxInput) { insertIntoDocCollection(objects: [{id: 1003, box: $v}]) { affectedCount } }',
    'BAD_USER_INPUT',
    { v: { note: 'a\0' } },
  ],
  [
    'a filter of composite types that is deep',
    filtered('Int', `{box: ${nested(150, (inner) => `{not: ${inner}}`, '{box: {spot: {x: {eq: $v}}}}')}}`),
    null,
    { v: 1 },
  ],
];

function expectCode({ data, errors }: ExecutionResult, code: string | null): void {
  const [error] = errors ?? [];
  assert.equal(error?.extensions.code ?? null, code, JSON.stringify(errors)?.slice(0, 500));
  if (error) assert.match(error.message, /^[^\n]{10,600}$/);
  else assert.ok(data);
}

const stream = (type: string, argument: string) => `subscription ($v: ${type}) { docStream(${argument}) { cursor node { id } } }`;

const streams: readonly Attack[] = [
  ['a stream with huge pages', stream('Int', 'first: $v'), null, { v: 2_147_483_647 }],
  ['a stream with a negative page', stream('Int', 'first: $v'), 'BAD_USER_INPUT', { v: -1 }],
  ['a stream after a cursor that is none', stream('Cursor', 'after: $v'), 'BAD_USER_INPUT', { v: '%%%' }],
  ['a stream after a cursor of 500,000 characters', stream('Cursor', 'after: $v'), 'BAD_USER_INPUT', { v: 'WyJh'.repeat(125_000) }],
  ['a stream after a cursor of another type', stream('Cursor', 'after: $v'), 'INVALID_VALUE', { v: 'WyJhIl0=' }],
  ['a stream with a filter that is none', stream('String', 'filter: {title: {regex: $v}}'), 'INVALID_VALUE', { v: '(' }],
  ['two streams', 'subscription { docStream { cursor } a: docStream { cursor } }', 'GRAPHQL_VALIDATION_FAILED'],
];

describe('arguments that are made to harm', () => {
  let test: TestGraph;
  before(async () => {
    test = await startTestGraph(schema, { timeout: 6_000 });
  });
  after(() => test.stop());

  for (const [about, query, code, variables = {}] of attacks) {
    it(`${about}: ${code ?? 'answered'}`, async () => {
      expectCode(await test.graph.execute({ query, variables }, { role: 'service_role' }), code);
    });
  }

  for (const [about, query, code, variables = {}] of streams) {
    it(`${about}: ${code ?? 'answered'}`, async () => {
      const answers = test.graph.subscribe({ query, variables }, { role: 'service_role' });
      const { value } = await answers.next();
      await answers.return?.();
      expectCode(value as ExecutionResult, code);
    });
  }

  it('the server still answers', async () => {
    assert.deepEqual(await test.ask('{ docCollection(filter: {id: {eq: 1}}) { totalCount } }'), { docCollection: { totalCount: 1 } });
  });
});
