/** The parts of the page that need no browser. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  buildSchema,
  type GraphQLInputType,
  GraphQLInt,
  type GraphQLObjectType,
  type GraphQLSchema,
  GraphQLString,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  parse,
  print,
  validate,
} from 'graphql';
import { CallerHeaders } from '../../graphiql/page/caller-headers.ts';
import { chooseOperationName } from '../../graphiql/page/choose-operation-name.ts';
import { readClaims, writeClaims } from '../../graphiql/page/claim-lines.ts';
import { callerOf, decodeToken, expiryOf } from '../../graphiql/page/decode-token.ts';
import { addField, findField, findValue, removeField, setValue } from '../../graphiql/page/edit-operation.ts';
import { writeField } from '../../graphiql/page/first-choice.ts';
import { type Box, layOutTables } from '../../graphiql/page/lay-out-tables.ts';
import { listExplorerLines, listReachable } from '../../graphiql/page/list-explorer-lines.ts';
import { moveInTree } from '../../graphiql/page/move-in-tree.ts';
import { isEmptyOperation, type OperationsText, readOperations, writeOperation } from '../../graphiql/page/operations-text.ts';
import { fit, zoom } from '../../graphiql/page/pan-and-zoom.ts';
import { readSqlTokens } from '../../graphiql/page/read-sql-tokens.ts';
import { type ApiTable, readTables } from '../../graphiql/page/read-tables.ts';
import { ownMilliseconds, readServerTiming } from '../../graphiql/page/read-times.ts';
import { describeValue, readValue } from '../../graphiql/page/read-value.ts';
import { readSharedQuery, writeSharedQuery } from '../../graphiql/page/share-link.ts';
import { writeFirstQuery } from '../../graphiql/page/write-first-query.ts';
import { signKey } from '../../src/auth/sign-key.ts';
import type { DatabasePlanNode } from '../../src/explain/explanation.ts';

const schema = buildSchema(`
  scalar Cursor
  enum OrderByDirection { AscNullsFirst AscNullsLast DescNullsFirst DescNullsLast }
  enum FilterIs { NULL NOT_NULL }
  input IntFilter { eq: Int in: [Int!] is: FilterIs }
  input StringFilter { ilike: String eq: String }
  input NoteFilter { id: IntFilter body: StringFilter and: [NoteFilter!] }
  input NoteOrderBy { id: OrderByDirection }
  type PageInfo { hasNextPage: Boolean! endCursor: String }
  type Author { nodeId: ID! name: String! noteCollection(first: Int): NoteConnection }
  type AuthorEdge { node: Author! }
  type AuthorConnection { edges: [AuthorEdge!]! pageInfo: PageInfo! }
  type Note { nodeId: ID! id: Int! body: String tags: [String] author: Author label(upper: Boolean): String }
  type NoteEdge { node: Note! }
  type NoteConnection { edges: [NoteEdge!]! pageInfo: PageInfo! }
  type Query {
    node(nodeId: ID!): Note
    authorCollection(first: Int): AuthorConnection
    noteCollection(first: Int, after: Cursor, filter: NoteFilter, orderBy: [NoteOrderBy!]): NoteConnection
  }
`);

const emptyOf = (query: string): OperationDefinitionNode => parse(query).definitions[0] as OperationDefinitionNode;
const isValid = (query: string, of: GraphQLSchema = schema): void => assert.deepEqual(validate(of, parse(query)), []);

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

const operationOf = (text: string): OperationDefinitionNode => (readOperations(text) as OperationsText).operations[0]!;
const fieldNamed = (type: string, name: string) => (schema.getType(type) as GraphQLObjectType).getFields()[name]!;

test('the explorer adds a field with what makes it valid, and takes it out with what it leaves empty', () => {
  const before = operationOf('query Q { authorCollection { edges { node { name } } } }');
  const added = addField(before, ['noteCollection'], writeField(fieldNamed('Query', 'noteCollection')));
  assert.equal(
    print(added).replaceAll(/\s+/g, ' '),
    'query Q { authorCollection { edges { node { name } } } noteCollection { edges { node { body } } } }',
  );
  const withNode = addField(before, ['node'], writeField(fieldNamed('Query', 'node')));
  assert.match(print(withNode), /node\(nodeId: ""\) \{\s+body\s+\}/);
  for (const operation of [added, withNode]) isValid(print(operation));
  const deep = addField(before, ['noteCollection', 'edges', 'node', 'id'], writeField(fieldNamed('Note', 'id')));
  assert.match(print(deep), /noteCollection \{\s+edges \{\s+node \{\s+id\s/);
  const without = removeField(removeField(deep, ['noteCollection', 'edges', 'node', 'id']), ['authorCollection']);
  assert.equal(print(without).replaceAll(/\s+/g, ' '), 'query Q { __typename }');
});

test('the explorer sets arguments, and takes them out with the objects that they leave empty', () => {
  const path = ['noteCollection'];
  const text = (value: string) => ({ kind: Kind.STRING, value }) as const;
  let operation = operationOf('{ noteCollection(orderBy: [{id: AscNullsFirst}]) { edges { node { id } } } }');
  operation = setValue(operation, path, ['filter', 'body', 'ilike'], text('%a%'));
  operation = setValue(operation, path, ['orderBy', 'id'], { kind: Kind.ENUM, value: 'DescNullsLast' });
  assert.match(print(operation), /\(\s+orderBy: \[\{ id: DescNullsLast \}\]\s+filter: \{ body: \{ ilike: "%a%" \} \}\s+\)/);
  isValid(print(operation));
  const found = findField(operation, path)!;
  assert.deepEqual([findValue(found, ['orderBy', 'id'])?.kind, findValue(found, ['filter', 'id'])], [Kind.ENUM, null]);
  assert.match(
    print(setValue(operation, path, ['filter', 'body', 'ilike'], null)),
    /noteCollection\(orderBy: \[\{ ?id: DescNullsLast ?\}\]\) \{/,
  );
});

test('values are read as people type them', () => {
  const read = (typed: string, type: GraphQLInputType) => {
    const value = readValue(typed, type);
    return value && print(value);
  };
  assert.deepEqual(
    ['3', '"3"', '$n', '', 'x y'].map((typed) => read(typed, GraphQLInt)),
    ['3', null, '$n', null, null],
  );
  assert.deepEqual(
    ['a"b', '3', '$n', '["a", "b"]', '$ 5'].map((typed) => read(typed, GraphQLString)),
    ['"a\\"b"', '"3"', '$n', '["a", "b"]', '"$ 5"'],
  );
  assert.equal(describeValue({ kind: Kind.STRING, value: 'a"b' }), 'a"b');
});

test('the text around an operation stays as it is', () => {
  const text = '# first\nquery A { a }\n\n# second\nquery B { b }\n';
  const read = readOperations(text) as OperationsText;
  const changed = writeOperation(text, read, read.operations[0]!, operationOf('query A { x }'));
  assert.equal(changed, '# first\nquery A {\n  x\n}\n\n# second\nquery B { b }\n');
  const begun = writeOperation('# only this\n', readOperations('# only this\n') as OperationsText, null, operationOf('{ x }'));
  assert.equal(begun, '# only this\n{\n  x\n}\n');
  assert.match((readOperations('{ a ') as { error: string }).error, /Syntax Error/);
});

test('the explorer lists what is open: arguments, then fields, each with its place', () => {
  const operation = operationOf('{ noteCollection(first: 1) { pageInfo { endCursor } } }');
  const opened = new Map([['noteCollection/edges', true]]);
  const lines = listExplorerLines(schema, { operation, opened, found: null });
  assert.deepEqual(
    lines.map(({ id, level, place, count, isChecked, isOpen }) => [id, level, `${place}/${count}`, isChecked, isOpen]).slice(0, 8),
    [
      ['node', 1, '1/3', false, false],
      ['authorCollection', 1, '2/3', false, false],
      ['noteCollection', 1, '3/3', true, true],
      ['noteCollection(first', 2, '1/6', true, null],
      ['noteCollection(after', 2, '2/6', false, null],
      ['noteCollection(filter', 2, '3/6', false, false],
      ['noteCollection(orderBy', 2, '4/6', false, false],
      ['noteCollection/edges', 2, '5/6', false, true],
    ],
  );
});

test('the explorer finds fields at any depth, by the shortest way, and shows only the way to them', () => {
  const operation = emptyOf('{ __typename }');
  const reachable = listReachable(schema, OperationTypeNode.QUERY);
  const pathsOf = (wanted: string): string[] => reachable.filter(({ name }) => name.includes(wanted)).map(({ path }) => path.join('/'));
  // By the collection, although `node` is as near: it needs an argument.
  assert.deepEqual(pathsOf('body'), ['noteCollection/edges/node/body']);
  assert.deepEqual(pathsOf('label'), ['noteCollection/edges/node/label']);
  const paths = new Set(reachable.map(({ path }) => path.join('/')));
  assert.equal(paths.size, reachable.length, 'none twice, although tables refer to each other');
  const found = reachable.filter(({ name }) => name === 'name').map(({ path }) => path);
  const shown = (opened: ReadonlyMap<string, boolean>) =>
    listExplorerLines(schema, { operation, opened, found }).map(({ id, level, isOpen }) => [id, level, isOpen]);
  assert.deepEqual(shown(new Map()), [
    ['authorCollection', 1, true],
    ['authorCollection/edges', 2, true],
    ['authorCollection/edges/node', 3, true],
    ['authorCollection/edges/node/name', 4, null],
  ]);
  const opened = shown(new Map([['authorCollection/edges/node', true]])).map(([id]) => id);
  assert.ok(opened.includes('authorCollection/edges/node/noteCollection'), 'what the user opens shows all that it has');
  assert.deepEqual(shown(new Map([['authorCollection', false]])), [['authorCollection', 1, false]]);
  assert.deepEqual(listExplorerLines(schema, { operation, opened: new Map(), found: [] }), []);
});

test('an operation whose last field goes leaves nothing behind', () => {
  const text = '# Mine.\nquery A { a }\n\nmutation B { b }\n';
  const read = readOperations(text) as OperationsText;
  assert.equal(writeOperation(text, read, read.operations[1]!, null), '# Mine.\nquery A { a }\n');
  assert.equal(writeOperation(text, read, read.operations[0]!, null), '# Mine.\n\nmutation B { b }\n');
  const one = readOperations('{ a }') as OperationsText;
  assert.equal(writeOperation('{ a }', one, one.operations[0]!, null), '');
  assert.deepEqual(['{ __typename }', '{ a }', '{ x: __typename }', '{ __typename a }'].map(emptyOf).map(isEmptyOperation), [
    true,
    false,
    false,
    false,
  ]);
});

test('keys move in the tree', () => {
  const lines = [
    { name: 'a', level: 1, isOpen: true },
    { name: 'b', level: 2, isOpen: null },
    { name: 'ab', level: 1, isOpen: false },
  ];
  const press = (place: number, key: string, ctrlKey = false) => moveInTree(lines, place, { key, ctrlKey, metaKey: false, altKey: false });
  const go = (place: number) => ({ kind: 'go', place });
  assert.deepEqual([press(0, 'ArrowDown'), press(2, 'ArrowDown'), press(0, 'ArrowUp')], [go(1), go(2), go(0)]);
  assert.deepEqual([press(0, 'ArrowRight'), press(2, 'ArrowRight'), press(1, 'ArrowRight')], [go(1), { kind: 'open', isOpen: true }, null]);
  assert.deepEqual([press(1, 'ArrowLeft'), press(0, 'ArrowLeft')], [go(0), { kind: 'open', isOpen: false }]);
  assert.deepEqual([press(0, 'End'), press(2, 'Home'), press(0, 'a'), press(2, 'A'), press(0, 'z')], [go(2), go(0), go(2), go(0), null]);
  assert.deepEqual(
    [press(0, ' '), press(0, 'Enter'), press(0, 'Tab'), press(0, 'a', true)],
    [{ kind: 'check' }, { kind: 'check' }, null, null],
  );
});
