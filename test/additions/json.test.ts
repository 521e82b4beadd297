/** Errors of JSON: what is no path is refused with a code of the client's, and reaches nothing. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestGraph, type TestGraph } from '../support/test-graph.ts';

let started: TestGraph;
before(async () => {
  started = await startTestGraph(
    `create table doc (id int primary key, body jsonb, raw json); insert into doc values (1, '{"a": 1}', '{"a": 1}');`,
  );
});
after(() => started.stop());

const deep = (text: string, times: number) => text.repeat(times);
const paths: readonly (readonly [path: string, vars: string | null, code: string])[] = [
  ["$'); drop table doc; --", null, 'INVALID_VALUE'],
  ['$.a ? (', null, 'INVALID_VALUE'],
  ['', null, 'INVALID_VALUE'],
  ['last', null, 'INVALID_VALUE'],
  ['@', null, 'INVALID_VALUE'],
  ['$.a ? (@ like_regex "(")', null, 'INVALID_VALUE'],
  ['$.a ? (@ like_regex "a" flag "x")', null, 'INVALID_VALUE'],
  ['$.a ? (@ == $b)', null, 'BAD_USER_INPUT'],
  ['$.a ? (@ == $b)', '{"c": 1}', 'BAD_USER_INPUT'],
  ['$.a ? (@ == $b)', '[]', 'INVALID_VALUE'],
  ['$.a ? (@ == $b)', '{', 'INVALID_VALUE'],
  [deep('(', 50_000), null, 'INVALID_VALUE'],
];

for (const [path, vars, code] of paths) {
  test(`the path ${path.slice(0, 40)} with ${vars}`, async () => {
    const query =
      'query($p: String!, $v: JSON) { docCollection(filter: {body: {matches: {path: $p, vars: $v}}}) { edges { node { id } } } }';
    const { errors } = await started.graph.execute({ query, variables: { p: path, v: vars } }, { role: 'anon' });
    assert.deepEqual(
      errors?.map((error) => [error.extensions?.code, error.path]),
      [[code, ['docCollection']]],
      JSON.stringify(errors),
    );
  });
}

test('a document of json that jsonb cannot hold is an error of the request, not of the server', async () => {
  await started.database.run(`insert into doc values (2, null, '{"a": "\\u0000"}')`);
  const query = '{ docCollection(filter: {raw: {hasKey: "a"}}) { edges { node { id } } } }';
  const { errors } = await started.graph.execute({ query }, { role: 'anon' });
  assert.equal(errors?.[0]?.extensions?.code, 'INVALID_VALUE');
});
