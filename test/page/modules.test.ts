/** The parts of the page that need no browser. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildSchema } from 'graphql';
import { CallerHeaders } from '../../graphiql/page/caller-headers.ts';
import { chooseOperationName } from '../../graphiql/page/choose-operation-name.ts';
import { readClaims, writeClaims } from '../../graphiql/page/claim-lines.ts';
import { callerOf, decodeToken, expiryOf } from '../../graphiql/page/decode-token.ts';
import { type Box, layOutTables } from '../../graphiql/page/lay-out-tables.ts';
import { fit, zoom } from '../../graphiql/page/pan-and-zoom.ts';
import { readSqlTokens } from '../../graphiql/page/read-sql-tokens.ts';
import { type ApiTable, readTables } from '../../graphiql/page/read-tables.ts';
import { ownMilliseconds, readServerTiming } from '../../graphiql/page/read-times.ts';
import { readSharedQuery, writeSharedQuery } from '../../graphiql/page/share-link.ts';
import { writeFirstQuery } from '../../graphiql/page/write-first-query.ts';
import { signKey } from '../../src/auth/sign-key.ts';
import type { DatabasePlanNode } from '../../src/explain/explanation.ts';
import { isValid, schema } from './api-of-notes.ts';

test('tables are what the API lists, with columns and relations', () => {
  const [author, note] = readTables(schema);
  assert.deepEqual(
    [author?.type, author?.collection, author?.columns.map(({ name }) => name), author?.relations],
    ['Author', 'authorCollection', ['name'], [{ field: 'noteCollection', target: 'Note', isMany: true }]],
  );
  assert.deepEqual(note?.relations, [{ field: 'author', target: 'Author', isMany: false }]);
  assert.deepEqual(
    note?.columns.map(({ name, type, leaf, isList, isRequired }) => [name, type, leaf, isList, isRequired]),
    [
      ['id', 'Int!', 'Int', false, true],
      ['body', 'String', 'String', false, false],
      ['tags', '[String]', 'String', true, false],
    ],
  );
});

test('values of a row type are columns, without the rows that they refer to', () => {
  const row = 'type Query { aCollection: AConnection } type AConnection { edges: [AEdge] } type AEdge { node: A }';
  const [table] = readTables(
    buildSchema(
      `${row} type A { id: Int! was: ARow } type ARow { id: Int at: Spot next: A aCollection: AConnection } type Spot { x: Int }`,
    ),
  );
  assert.deepEqual(
    table?.columns.map(({ name, selection }) => [name, selection]),
    [
      ['id', null],
      ['was', '{ id at { x } }'],
    ],
  );
  assert.deepEqual(table?.relations, []);
});

test('the first query is valid, whatever there is', () => {
  const query = writeFirstQuery(schema);
  isValid(query);
  assert.match(query, /Collection\(first: 3\)/);
  const empty = buildSchema('type Query { node: Int }');
  isValid(writeFirstQuery(empty), empty);
});

/** Each table leads to two others, and every tenth to none. */
function manyTables(count: number): readonly ApiTable[] {
  return Array.from({ length: count }, (_, index) => ({
    type: `Table${index}`,
    collection: `table${index}Collection`,
    description: null,
    columns: Array.from({ length: 1 + (index % 20) }, (_, place) => ({
      name: `c${place}`,
      type: 'Int',
      leaf: 'Int',
      isList: false,
      isRequired: false,
      labels: null,
      isBareJson: false,
      selection: null,
    })),
    relations:
      index % 10 === 0 ? [] : [7, 31].map((step) => ({ field: `t${step}`, target: `Table${(index * step) % count}`, isMany: false })),
  }));
}

test('the diagram places 200 tables, none over another, and always the same way', () => {
  const tables = manyTables(200);
  const boxes = layOutTables(tables);
  assert.equal(boxes.size, 200);
  assert.deepEqual([...layOutTables(tables)], [...boxes]);
  const all = [...boxes.values()];
  const overlap = (one: Box, other: Box): boolean =>
    one.x < other.x + other.width && other.x < one.x + one.width && one.y < other.y + other.height && other.y < one.y + one.height;
  for (const [index, one] of all.entries()) for (const other of all.slice(index + 1)) assert.ok(!overlap(one, other));
  assert.equal(layOutTables([]).size, 0);
});

test('zooming keeps the point under the pointer, and everything fits', () => {
  const part = zoom({ x: 10, y: 20, scale: 1 }, 2, { x: 110, y: 120 });
  assert.deepEqual(part, { x: -90, y: -80, scale: 2 });
  assert.equal(zoom(part, 1e9, { x: 0, y: 0 }).scale, 2.5);
  const { x, y, scale } = fit([{ x: 0, y: 0, width: 2000, height: 1000 }], { width: 1000, height: 1000 });
  assert.ok(x >= 0 && y >= 0 && x + 2000 * scale <= 1000 && y + 1000 * scale <= 1000);
  assert.equal(fit([], { width: 0, height: 0 }).scale, 1);
});

test('claims become lines and lines claims, whatever their types and names', () => {
  const claims = JSON.parse('{"sub":"ada","admin":true,"level":"7","tags":["a"],"n":7,"empty":"","__proto__":{"x":1},"space":" a "}');
  const lines = writeClaims(claims);
  assert.deepEqual(
    lines.map(({ name, value }) => [name, value]),
    [
      ['sub', 'ada'],
      ['admin', 'true'],
      ['level', '"7"'],
      ['tags', '["a"]'],
      ['n', '7'],
      ['empty', '""'],
      ['__proto__', '{"x":1}'],
      ['space', '" a "'],
    ],
  );
  assert.equal(JSON.stringify(readClaims(lines)), JSON.stringify(claims));
  assert.deepEqual(
    readClaims([
      { name: ' ', value: 'x' },
      { name: 'x', value: ' ' },
    ]),
    {},
  );
});

test('a token is read, and what is none is not', async () => {
  const token = await signKey('a-secret-of-tests-with-more-than-32-bytes', 'anon', 60, { name: 'Zoë ☃' });
  const claims = decodeToken(` ${token}\n`);
  assert.deepEqual([claims?.role, claims?.name], ['anon', 'Zoë ☃']);
  assert.ok((expiryOf(claims!) ?? 0) > Date.now());
  for (const text of ['', 'a', 'a.b.c', 'a.W10.c', `a.${btoa('null')}.c`]) assert.equal(decodeToken(text), null, text);
  assert.equal(expiryOf({ exp: 'soon' }), null);
  assert.deepEqual(callerOf({ apikey: token }).role, 'anon');
  assert.deepEqual(callerOf({ apikey: token, authorization: `bearer a.${btoa('{"role":"ada"}')}.c` }), {
    role: 'ada',
    claims: { role: 'ada' },
  });
  assert.deepEqual(callerOf({ apikey: 'opaque' }), { role: 'anon', claims: {} });
});

test('a token is signed once for a caller, and anew before it expires', async () => {
  const signed: unknown[] = [];
  let lifetime = 3600;
  const sign = async (...caller: unknown[]) => {
    signed.push(caller);
    return { token: `token ${signed.length}`, expiresAt: Date.now() / 1000 + lifetime };
  };
  const headers = new CallerHeaders({ sign });
  const ada = { kind: 'role', role: 'authenticated', claims: { sub: 'ada' } } as const;
  assert.deepEqual([await headers.of(ada), await headers.of(ada)], [{ apiKey: 'token 1' }, { apiKey: 'token 1' }]);
  lifetime = 30;
  const bob = { ...ada, claims: { sub: 'bob' } };
  assert.deepEqual([await headers.of(bob), await headers.of(bob)], [{ apiKey: 'token 2' }, { apiKey: 'token 3' }]);
  assert.deepEqual(await headers.of({ kind: 'key', key: 'k', token: '' }), { apiKey: 'k' });
  assert.deepEqual(await headers.of({ kind: 'key', key: 'k', token: 't' }), { apiKey: 'k', authorization: 'Bearer t' });
  await assert.rejects(new CallerHeaders(null).of(ada), /paste a key/);
});

test('an operation runs under a name that its document has', () => {
  assert.equal(chooseOperationName('query A { a } query B { b }', 'B'), 'B');
  assert.equal(chooseOperationName('query A { a }', 'Before'), 'A');
  assert.equal(chooseOperationName('query A { a } query B { b }', 'Before'), undefined);
  assert.equal(chooseOperationName('{ a }', 'Before'), undefined);
  assert.equal(chooseOperationName('{ a', 'Before'), undefined);
});

test('a link holds a query and its variables, and nothing else', () => {
  const query = 'query A($b: Int) { a(b: $b) # 100% "&?=" \n}';
  const link = writeSharedQuery('http://localhost:4000/graphiql?query=old&token=secret#x', query, '{"b": 1}');
  const { search, hash } = new URL(link);
  assert.deepEqual(readSharedQuery(search), { query, variables: '{"b": 1}' });
  assert.ok(!link.includes('secret') && hash === '');
  assert.deepEqual(readSharedQuery(''), { query: undefined, variables: undefined });
});

test('stages, tokens of SQL and times of a plan are told apart', () => {
  assert.deepEqual(readServerTiming('auth;dur=2.5, cached, total;desc="all";dur=4'), [
    { name: 'auth', milliseconds: 2.5 },
    { name: 'total', milliseconds: 4 },
  ]);
  const sql = `select "from", 'it''s "$1"' from t where x = $1`;
  const tokens = readSqlTokens(sql);
  assert.equal(tokens.map(({ text }) => text).join(''), sql);
  assert.deepEqual(
    tokens.filter(({ kind }) => kind !== 'plain').map(({ kind, text }) => [kind, text]),
    [
      ['keyword', 'select'],
      ['name', '"from"'],
      ['text', `'it''s "$1"'`],
      ['keyword', 'from'],
      ['keyword', 'where'],
      ['parameter', '$1'],
    ],
  );
  const definition = `-- it's "new"\ncreate function f() returns int language sql as $x$ select 'a' -- $1 $x$; /* "x" */ alter table t`;
  assert.deepEqual(
    readSqlTokens(definition)
      .filter(({ kind }) => ['comment', 'text', 'name', 'parameter'].includes(kind))
      .map(({ kind, text }) => [kind, text]),
    [
      ['comment', `-- it's "new"`],
      ['text', `$x$ select 'a' -- $1 $x$`],
      ['comment', '/* "x" */'],
    ],
  );
  assert.ok(readSqlTokens(definition).some(({ kind, text }) => kind === 'keyword' && text === 'alter'));
  const node = (milliseconds: number, loops: number, children: readonly unknown[] = []) =>
    ({ actual: { milliseconds, loops, rows: 1, removed: 0 }, children }) as unknown as DatabasePlanNode;
  assert.equal(ownMilliseconds(node(10, 1, [node(2, 3), node(1, 1)])), 3);
  assert.equal(ownMilliseconds({ ...node(0, 0), actual: null }), 0);
});
