/** Errors of JSON: what is no path is refused with a code of the client's, and reaches nothing. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createRowgraph } from '../../src/index.ts';
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

test('a path with a variable, but without values for any, is an error from PostgreSQL 17 on, and finds nothing before', async () => {
  const [server] = await started.database.run(`select current_setting('server_version_num')::int >= 170000 as refuses`);
  const query = '{ docCollection(filter: {body: {matches: {path: "$.a ? (@ == $b)"}}}) { edges { node { id } } } }';
  const { data, errors } = await started.graph.execute({ query }, { role: 'anon' });
  if (server?.['refuses'] === true) assert.equal(errors?.[0]?.extensions?.code, 'BAD_USER_INPUT');
  else assert.deepEqual(data, { docCollection: { edges: [] } });
});

test('a document of json that jsonb cannot hold is an error of the request, not of the server', async () => {
  await started.database.run(`insert into doc values (2, null, '{"a": "\\u0000"}')`);
  const query = '{ docCollection(filter: {raw: {hasKey: "a"}}) { edges { node { id } } } }';
  const { errors } = await started.graph.execute({ query }, { role: 'anon' });
  assert.equal(errors?.[0]?.extensions?.code, 'INVALID_VALUE');
});

const change = 'mutation($c: JSONChange) { updatedocCollection(set: {}, json: {body: $c}, filter: {id: {eq: 1}}) { records { body } } }';
const codeOf = async (variables: Record<string, unknown>) =>
  (await started.graph.execute({ query: change, variables }, { role: 'anon' })).errors?.[0]?.extensions?.code;

test('changes of parts: what is no path changes nothing', async () => {
  const refused: readonly (readonly [change: object, code: string])[] = [
    [{ setPath: [{ path: [], value: '1' }] }, 'BAD_USER_INPUT'],
    [{ setPath: [{ path: ['a\0'], value: '1' }] }, 'BAD_USER_INPUT'],
    [{ setPath: [{ path: [null], value: '1' }] }, 'BAD_USER_INPUT'],
    [{ setPath: [{ path: null, value: '1' }] }, 'BAD_USER_INPUT'],
    [{ setPath: [{ value: '1' }] }, 'BAD_USER_INPUT'],
    [{ removePath: [null] }, 'BAD_USER_INPUT'],
    [{ setPath: [{ path: ['a'], value: '{' }] }, 'INVALID_VALUE'],
    [{ merge: '' }, 'INVALID_VALUE'],
    [{ setPath: Array.from({ length: 51 }, () => ({ path: ['a'], value: '1' })) }, 'QUERY_TOO_COMPLEX'],
  ];
  for (const [each, code] of refused) assert.equal(await codeOf({ c: each }), code, JSON.stringify(each).slice(0, 80));
  assert.deepEqual(await started.database.run('select body from doc where id = 1'), [{ body: { a: 1 } }]);
});

test('as many changes as there may be, and a long path, are made', async () => {
  const setPath = Array.from({ length: 49 }, (_, index) => ({ path: [`k${index}`, 'x'], value: String(index) }));
  const long = { path: Array.from({ length: 100 }, () => 'p'), value: '1' };
  assert.equal(await codeOf({ c: { setPath: [...setPath, long] } }), undefined);
  const rows = await started.database.run("select body #>> '{k48,x}' as last, body ? 'p' as long from doc where id = 1");
  assert.deepEqual(rows, [{ last: '48', long: true }]);
});

test('a role changes parts only of columns that it may read and update', async () => {
  await started.database.run(`create table secret (id int primary key, seen jsonb, hidden jsonb, fixed jsonb);
    revoke all on secret from anon; grant select (id, seen, fixed), update (seen, hidden) on secret to anon`);
  const graph = await createRowgraph({ database: started.database.url });
  try {
    const sdl = await graph.sdl({ role: 'anon' });
    assert.match(sdl, /input secretJSONInput \{\s+seen: JSONChange\s+\}/);
    assert.match(sdl, /input secretUpdateInput \{\s+seen: JSON\s+hidden: JSON\s+\}/);
  } finally {
    await graph.close();
  }
});

test('json: "object" returns JSON as it is, in rows, parts, lists, functions and mutations', async () => {
  const sql = `create domain whole as jsonb; create table bare (id int primary key, b jsonb, r json, l jsonb[], m json[], n jsonb not null default 'null', w whole not null default 'null');
    insert into bare values (1, '{"a": [1, "x\\"\\n"]}', E'{"z":\\r\\n 1, "a": "q"}', array['1', '{"k": null}']::jsonb[], array[E'[\\n1]']::json[], '"t"'), (2, null, null, null, null, 'null');
    create function bare_of(given jsonb) returns jsonb language sql immutable as $$ select given $$;
    grant all on bare to anon;`;
  await started.database.run(sql);
  const graph = await createRowgraph({ database: started.database.url, json: 'object' });
  try {
    const answer = async (query: string) => Buffer.concat([...(await graph.executeRaw({ query }, { role: 'anon' })).chunks]).toString();
    const read = await answer(
      '{ bareCollection { edges { node { b r l m n p: b(path: ["a", "1"]) q: n(path: ["x"]) } } } bareOf: bare_of(given: "[true]") }',
    );
    assert.doesNotMatch(read, /[\n\r]/);
    const rows = [
      { b: { a: [1, 'x"\n'] }, r: { z: 1, a: 'q' }, l: [1, { k: null }], m: [[1]], n: 't', p: 'x"\n', q: null },
      { b: null, r: null, l: null, m: null, n: null, p: null, q: null },
    ];
    assert.deepEqual(JSON.parse(read), { data: { bareCollection: { edges: rows.map((node) => ({ node })) }, bareOf: [true] } });
    const written = await answer('mutation { insertIntobareCollection(objects: [{id: 3, b: "{\\"a\\": 1}"}]) { records { b n } } }');
    assert.deepEqual(JSON.parse(written), { data: { insertIntobareCollection: { records: [{ b: { a: 1 }, n: null }] } } });
    const deleted = await answer('mutation { deleteFrombareCollection(filter: {b: {contains: "{}"}, id: {eq: 3}}) { records { b } } }');
    assert.deepEqual(JSON.parse(deleted), { data: { deleteFrombareCollection: { records: [{ b: { a: 1 } }] } } });
    // JSON's null would be an error in a field that cannot be null.
    assert.match(await graph.sdl({ role: 'anon' }), /type bare [^}]*\bn\([^)]*\): JSON\n\s*w\([^)]*\): whole\n/);
    assert.match(await graph.sdl({ role: 'anon' }), /"""Any value of JSON; as input, a string with its text"""\s+scalar JSON/);
  } finally {
    await graph.close();
  }
});
