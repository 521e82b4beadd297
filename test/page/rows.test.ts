/** The parts of the view of rows that need no browser. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildSchema, parse, validate } from 'graphql';
import { type ApiColumn, readTables } from '../../graphiql/page/read-tables.ts';
import { describeCell, indentJson, readCell, writeCell } from '../../graphiql/page/rows/cell-values.ts';
import { type Changes, changeCell, deleteRow, insertRow, listGridRows } from '../../graphiql/page/rows/changes.ts';
import { fetchAllRows, writeCsv, writeJson } from '../../graphiql/page/rows/export-rows.ts';
import { moveInGrid } from '../../graphiql/page/rows/move-in-grid.ts';
import { filtersOfLink, listGridColumns, readFilterValue, writeRowsQuery } from '../../graphiql/page/rows/rows-query.ts';
import { readAbilities } from '../../graphiql/page/rows/table-abilities.ts';
import { readOutcome, writeMutation } from '../../graphiql/page/rows/write-mutation.ts';

const schema = buildSchema(`
  scalar Cursor
  scalar BigInt
  scalar JSON
  enum Mood { CALM LOUD }
  enum OrderByDirection { AscNullsFirst AscNullsLast DescNullsFirst DescNullsLast }
  enum FilterIs { NULL NOT_NULL }
  input IDFilter { eq: ID }
  input IntFilter { eq: Int in: [Int!] is: FilterIs }
  input BigIntFilter { eq: BigInt }
  input StringFilter { ilike: String eq: String }
  input StringListFilter { contains: [String!] }
  input JSONFilter { contains: JSON }
  input NoteFilter { data: JSONFilter id: BigIntFilter size: IntFilter body: StringFilter tags: StringListFilter nodeId: IDFilter and: [NoteFilter!] author: AuthorFilter }
  input AuthorFilter { name: StringFilter nodeId: IDFilter }
  input NoteOrderBy { id: OrderByDirection author: OrderByDirection }
  input NoteInsertInput { size: Int body: String mood: Mood tags: [String] data: JSON big: BigInt }
  input NoteUpdateInput { size: Int body: String mood: Mood tags: [String] data: JSON big: BigInt }
  type PageInfo { hasNextPage: Boolean! endCursor: String }
  type Author { nodeId: ID! name: String! }
  type AuthorEdge { node: Author! }
  type AuthorConnection { edges: [AuthorEdge!]! pageInfo: PageInfo! }
  type Note {
    nodeId: ID! id: BigInt! size: Int body: String mood: Mood tags: [String] data(path: [String!]): JSON big: BigInt authorId: Int author: Author other: Author
  }
  type NoteEdge { node: Note! }
  type NoteConnection { totalCount: Int! edges: [NoteEdge!]! pageInfo: PageInfo! }
  type NoteInsertResponse { affectedCount: Int! records: [Note!]! }
  type NoteUpdateResponse { affectedCount: Int! records: [Note!]! }
  type NoteDeleteResponse { affectedCount: Int! records: [Note!]! }
  type Query {
    authorCollection(first: Int, filter: AuthorFilter): AuthorConnection
    noteByPk(id: BigInt!): Note
    noteCollection(first: Int, after: Cursor, filter: NoteFilter, orderBy: [NoteOrderBy!]): NoteConnection
  }
  type Mutation {
    insertIntoNoteCollection(objects: [NoteInsertInput!]!): NoteInsertResponse
    updateNoteCollection(set: NoteUpdateInput!, filter: NoteFilter, atMost: Int! = 1): NoteUpdateResponse!
    deleteFromNoteCollection(filter: NoteFilter, atMost: Int! = 1): NoteDeleteResponse!
    publish(filter: NoteFilter): Note
  }
`);
const tables = readTables(schema);
const note = tables[1]!;
const abilities = readAbilities(schema, note, tables);
const firstPage = { filters: [], order: null, after: null, pageSize: 20 };

const isValid = (document: string): void => assert.deepEqual(validate(schema, parse(document)), []);

test('the schema says what can be done with a table', () => {
  assert.deepEqual(abilities.operators, {
    id: ['eq'],
    size: ['eq', 'in', 'is'],
    data: ['contains'],
    body: ['eq', 'ilike'],
    tags: ['contains'],
    nodeId: ['eq'],
  });
  assert.deepEqual([...abilities.orderable], ['id']);
  assert.deepEqual(abilities.identity, { field: 'nodeId', key: ['id'] });
  assert.deepEqual(
    abilities.links.map(({ field, target, label, column, identity }) => [field, target, label, column, identity.key]),
    [
      ['author', 'Author', 'name', 'authorId', []],
      ['other', 'Author', 'name', null, []],
    ],
  );
  const { insert, update, delete: remove } = abilities;
  assert.deepEqual(
    [insert?.field, update?.field, remove?.field],
    ['insertIntoNoteCollection', 'updateNoteCollection', 'deleteFromNoteCollection'],
  );
  assert.deepEqual([...(update?.inputs.keys() ?? [])], ['size', 'body', 'mood', 'tags', 'data', 'big']);
  assert.deepEqual(
    listGridColumns(note, abilities).map(({ id }) => id),
    ['id', 'size', 'body', 'mood', 'tags', 'data', 'big', 'authorId', 'other'],
  );
  const author = readAbilities(schema, tables[0]!, tables);
  assert.deepEqual([author.insert, author.update, author.delete, author.hasTotalCount], [null, null, null, false]);
});

test('the grid asks a valid query, with values of the type of their column, and without hidden columns', () => {
  const plain = writeRowsQuery(note, firstPage, abilities);
  isValid(plain.query);
  assert.deepEqual(plain.variables, { first: 20 });
  assert.match(plain.query, /totalCount.*nodeId\s+id\s+size.*author \{\s+nodeId\s+name\s+\}/s);
  const filters = [
    { column: 'size', operator: 'eq', value: '7' },
    { column: 'body', operator: 'ilike', value: '7' },
    { column: 'size', operator: 'in', value: '1, 2' },
    { column: 'tags', operator: 'contains', value: 'a, b' },
    { column: 'data', operator: 'contains', value: '{"a": [1, 2]}' },
    { column: 'size', operator: 'is', value: 'not null' },
    { column: 'id', operator: 'eq', value: '9007199254740993' },
  ];
  const choice = {
    ...firstPage,
    filters,
    order: { column: 'id', isDescending: true },
    after: 'c',
    hidden: ['data', 'author', 'authorId', 'other'],
  };
  const chosen = writeRowsQuery(note, choice, abilities);
  isValid(chosen.query);
  assert.doesNotMatch(chosen.query, /data|author/);
  assert.match(chosen.query, /\$filter: NoteFilter, \$orderBy: \[NoteOrderBy!\], \$after: Cursor/);
  const conditions = [
    { size: { eq: 7 } },
    { body: { ilike: '7' } },
    { size: { in: [1, 2] } },
    { tags: { contains: ['a', 'b'] } },
    { data: { contains: '{"a": [1, 2]}' } },
    { size: { is: 'NOT_NULL' } },
  ];
  assert.deepEqual(chosen.variables, {
    first: 20,
    filter: { and: [...conditions, { id: { eq: '9007199254740993' } }] },
    orderBy: [{ id: 'DescNullsLast' }],
    after: 'c',
  });
  const size = note.columns.find(({ name }) => name === 'size');
  assert.equal(readFilterValue({ column: 'size', operator: 'eq', value: 'owl' }, size).problem, 'Enter a whole number.');
  assert.deepEqual(filtersOfLink(abilities.links[0]!, { nodeId: 'x', name: 'Ada' }), [{ column: 'nodeId', operator: 'eq', value: 'x' }]);
});

test('values that are objects are columns that are read with their members, and JSON that is no text is edited as text', () => {
  const own = buildSchema(`
    "Any value of JSON; as input, a string with its text" scalar JSON
    enum FilterIs { NULL NOT_NULL }
    input IDFilter { eq: ID }
    input PlaceFilter { eq: Int is: FilterIs }
    input ShopFilter { nodeId: IDFilter at: PlaceFilter }
    input ShopUpdateInput { facts: JSON during: String }
    type PageInfo { hasNextPage: Boolean! endCursor: String }
    type Range { lower: Int upper: Int }
    type Place { eq: Int spots: [Spot] facts(path: [String!]): JSON far(by: Int!): Int }
    type Spot { x: Int inner: Place }
    type Shop { nodeId: ID! at: Place all: [Place!] facts: JSON during: String duringBounds: Range }
    type ShopEdge { node: Shop! }
    type ShopConnection { edges: [ShopEdge!]! pageInfo: PageInfo! }
    type ShopUpdateResponse { affectedCount: Int! records: [Shop!]! }
    type Query { shopCollection(first: Int, filter: ShopFilter): ShopConnection }
    type Mutation { updateShopCollection(set: ShopUpdateInput!, filter: ShopFilter, atMost: Int! = 1): ShopUpdateResponse! }
  `);
  const all = readTables(own);
  const shop = all[0]!;
  const able = readAbilities(own, shop, all);
  const members = '{ eq spots { x } facts }';
  assert.deepEqual(
    shop.columns.map(({ name, selection }) => [name, selection]),
    [
      ['at', members],
      ['all', members],
      ['facts', null],
      ['during', null],
    ],
  );
  assert.deepEqual(able.operators, { nodeId: ['eq'], at: ['is'] });
  assert.deepEqual([...able.update!.inputs.keys()], ['facts', 'during']);
  assert.deepEqual(validate(own, parse(writeRowsQuery(shop, firstPage, able).query)), []);
  const facts = shop.columns.find(({ name }) => name === 'facts')!;
  const row = { nodeId: 'a', at: { eq: 1, spots: [] }, facts: 'text' };
  assert.equal(writeCell(row.facts, facts), '"text"');
  assert.equal(writeCell(row.at, shop.columns[0]!), '{\n  "eq": 1,\n  "spots": []\n}');
  assert.equal(writeCsv(shop.columns, [row], false).split('\r\n')[1], '"{""eq"":1,""spots"":[]}",,"""text""",');
  assert.match(writeJson(shop.columns, [row]), /"facts": "text"/);
  for (const text of ['{"a":[9007199254740993]}', '"x"', '[1]', '5', 'null']) {
    const changes = changeCell([], { id: 'a', row, change: null }, 'facts', readCell(text, facts).value);
    const written = writeMutation(shop, able, changes).text;
    assert.deepEqual(validate(own, parse(written)), []);
    const [, sent = ''] = /facts: ("(?:[^"\\]|\\.)*")/.exec(written) ?? [];
    assert.equal(JSON.parse(sent), text);
  }
});

const column = (leaf: string, others: Partial<ApiColumn> = {}): ApiColumn => ({
  name: 'c',
  type: leaf,
  leaf,
  isList: false,
  isRequired: false,
  labels: null,
  isBareJson: false,
  selection: null,
  ...others,
});

test('a text is read as a value of the column, without losing a digit, or refused', () => {
  const right: readonly (readonly [ApiColumn, string, unknown])[] = [
    [column('Int'), ' -12 ', -12],
    [column('BigInt'), '-9223372036854775808', '-9223372036854775808'],
    [column('BigFloat'), '12345678901234567890.123456789', '12345678901234567890.123456789'],
    [column('Float'), '1e-7', 1e-7],
    [column('Boolean'), 'True', true],
    [column('String'), '', ''],
    [column('String'), ' as it is ', ' as it is '],
    [column('Mood', { labels: ['CALM', 'LOUD'] }), 'LOUD', 'LOUD'],
    [column('JSON'), '{"n": 9007199254740993}', '{"n": 9007199254740993}'],
    [column('BigInt', { isList: true }), '[9007199254740993, "2", null]', ['9007199254740993', '2', null]],
    [column('Opaque'), '1 day', '1 day'],
  ];
  for (const [type, text, value] of right) assert.deepEqual(readCell(text, type), { value, problem: null });
  const wrong: readonly (readonly [ApiColumn, string])[] = [
    [column('Int'), '2147483648'],
    [column('Int'), '1.5'],
    [column('Int'), ''],
    [column('BigInt'), '1e3'],
    [column('BigFloat'), '1,5'],
    [column('Float'), ''],
    [column('Boolean'), 'yes'],
    [column('UUID'), '123'],
    [column('Mood', { labels: ['CALM', 'LOUD'] }), 'purple'],
    [column('JSON'), '{"n": }'],
    [column('String', { isList: true }), '"a"'],
    [column('String', { isList: true }), '[["a"]]'],
    [column('Int', { isList: true }), '[1, "owl"]'],
  ];
  for (const [type, text] of wrong) assert.notEqual(readCell(text, type).problem, null, text);
});

test('JSON is indented without being read: numbers keep their digits, strings their marks', () => {
  const json = '{"a":[1.50,9007199254740993,-1e400],"b, {":"x: \\"[,]\\\\","c":{},"d":[],"e":[{"f":null}]}';
  assert.equal(
    indentJson(json),
    '{\n  "a": [\n    1.50,\n    9007199254740993,\n    -1e400\n  ],\n  "b, {": "x: \\"[,]\\\\",\n  "c": {},\n  "d": [],\n  "e": [\n    {\n      "f": null\n    }\n  ]\n}',
  );
  assert.deepEqual(JSON.parse(indentJson(json)), JSON.parse(json));
  assert.deepEqual([describeCell(['a', 1]), describeCell({ a: 1 }), describeCell(null)], ['a, 1', '{"a":1}', 'null']);
});

const rows = [
  { nodeId: 'n1', id: '1', size: 1, body: 'one', mood: 'CALM' },
  { nodeId: 'n2', id: '2', size: 2, body: null, mood: null },
];
const gridRows = (changes: Changes) => listGridRows(changes, rows, ({ nodeId }) => String(nodeId));

test('a change is forgotten once the row is as before, and a new row that is deleted', () => {
  let changes: Changes = [];
  changes = changeCell(changes, gridRows(changes)[0]!, 'body', '');
  changes = changeCell(changes, gridRows(changes)[0]!, 'size', null);
  assert.deepEqual(changes, [{ kind: 'update', id: 'n1', row: rows[0], values: { body: '', size: null } }]);
  changes = changeCell(changes, gridRows(changes)[0]!, 'size', 1);
  changes = changeCell(changes, gridRows(changes)[0]!, 'body', 'one');
  assert.deepEqual(changes, []);
  changes = insertRow(changes, 'new');
  changes = changeCell(changes, gridRows(changes)[0]!, 'size', 3);
  changes = changeCell(changes, gridRows(changes)[0]!, 'size', undefined);
  assert.deepEqual(changes, [{ kind: 'insert', id: 'new', values: {} }]);
  changes = deleteRow(changes, gridRows(changes)[0]!);
  assert.deepEqual(changes, []);
  changes = deleteRow(changeCell(changes, gridRows(changes)[1]!, 'body', 'x'), gridRows(changes)[1]!);
  assert.deepEqual(changes, [{ kind: 'delete', id: 'n2', row: rows[1] }]);
});

const changed: Changes = [
  {
    kind: 'insert',
    id: 'new',
    values: { body: 'a "b"\n$c', mood: 'LOUD', tags: ['x', null], data: '{"n": 9007199254740993}', big: '9007199254740993' },
  },
  { kind: 'update', id: 'n1', row: rows[0]!, values: { mood: 'so-so', size: -1 } },
  { kind: 'delete', id: 'n2', row: rows[1]! },
];

test('the changes are one valid mutation: deletes, updates, inserts', () => {
  const { text, fields } = writeMutation(note, abilities, changed);
  isValid(text.replace('"so-so"', 'CALM'));
  assert.deepEqual(
    fields.map(({ alias }) => alias),
    ['delete1', 'update1', 'insert1'],
  );
  const plain = text
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/,? ([)\]}])/g, '$1')
    .replaceAll(/([([{]) /g, '$1');
  assert.match(plain, /delete1: deleteFromNoteCollection\(filter: \{id: \{eq: "2"\}\}\)/);
  assert.match(plain, /set: \{mood: "so-so", size: -1\},? filter: \{id: \{eq: "1"\}\}/);
  assert.match(
    plain,
    /body: "a \\"b\\"\\n\$c" mood: LOUD tags: \["x", null\] data: "\{\\"n\\": 9007199254740993\}" big: "9007199254740993"/,
  );
  const withoutKey = { ...abilities, identity: { field: 'nodeId', key: [] } };
  assert.match(writeMutation(note, withoutKey, changed).text, /filter: \{\s*nodeId: \{\s*eq: "n2"\s*\}\s*\}/);
});

test('errors are found again at their change and column', () => {
  const written = writeMutation(note, abilities, changed);
  const read = (error: object) => {
    const { problems, message, done } = readOutcome(written, { data: null, errors: [{ message: 'no', ...error }] }, 'anon');
    assert.deepEqual(done, []);
    return [...problems].map(([id, { column: of }]) => [id, of])[0] ?? message;
  };
  assert.deepEqual(read({ path: ['update1'], extensions: { input: 'set.size' } }), ['n1', 'size']);
  assert.deepEqual(read({ path: ['insert1'], extensions: { input: 'objects[0].big' } }), ['new', 'big']);
  assert.deepEqual(read({ path: ['update1'], extensions: { constraint: 'note_size_check' } }), ['n1', 'size']);
  assert.deepEqual(read({ path: ['insert1'], extensions: { constraint: 'k', detail: 'Key (big)=(1) already exists.' } }), ['new', 'big']);
  assert.deepEqual(read({ path: ['insert1'], extensions: { column: 'size' } }), ['new', 'size']);
  assert.deepEqual(read({ path: ['delete1'], extensions: { constraint: 'other_note_id_fkey' } }), ['n2', null]);
  assert.deepEqual(read({ locations: [{ line: written.fields[1]!.firstLine }] }), ['n1', null]);
  assert.equal(read({}), 'no');
  const data = { delete1: { affectedCount: 1 }, update1: { affectedCount: 0 }, insert1: { affectedCount: 1 } };
  const { done, problems } = readOutcome(written, { data }, 'anon');
  assert.deepEqual(
    done.map(({ id }) => id),
    ['n2', 'new'],
  );
  assert.match(problems.get('n1')?.message ?? '', /No row was updated: the policies of anon/);
});

test('CSV is as RFC 4180 says, tells null from an empty text, and starts no formula', () => {
  const columns = [column('String', { name: 'a, "b"' }), column('BigInt', { name: 'n' }), column('JSON', { name: 'j' })];
  const data = [
    { 'a, "b"': '=cmd()', n: '-9007199254740993', j: '{"x": 1}' },
    { 'a, "b"': '', n: null, j: null },
    { 'a, "b"': 'two\r\nlines', n: '1', j: '[9007199254740993]' },
    { 'a, "b"': '-1', n: '2', j: null },
  ];
  assert.equal(
    writeCsv(columns, data, true),
    '"a, ""b""",n,j\r\n\'=cmd(),-9007199254740993,"{""x"": 1}"\r\n"",,\r\n"two\r\nlines",1,[9007199254740993]\r\n\'-1,2,\r\n',
  );
  assert.match(writeCsv(columns, data, false), /^=cmd\(\),/m);
  assert.equal(
    writeJson(columns, data.slice(0, 2)),
    '[\n  {"a, \\"b\\"": "=cmd()", "n": "-9007199254740993", "j": {"x": 1}},\n  {"a, \\"b\\"": "", "n": null, "j": null}\n]\n',
  );
  assert.equal(writeJson(columns, []), '[]\n');
});

test('an export reads all pages, up to its limit', async () => {
  const all = Array.from({ length: 25 }, (_, index) => ({ node: { id: String(index) } }));
  const ask = async ({ variables }: { readonly variables?: unknown }) => {
    const { first, after = '0' } = variables as { readonly first: number; readonly after?: string };
    const end = Number(after) + Math.min(first, 10);
    const edges = all.slice(Number(after), end);
    return { data: { noteCollection: { edges, pageInfo: { hasNextPage: end < all.length, endCursor: String(end) } } } };
  };
  const progress: number[] = [];
  const options = { limit: 1000, onProgress: (count: number) => void progress.push(count) };
  const { rows: found, isCut } = await fetchAllRows(ask, note, firstPage, abilities, options);
  assert.deepEqual([found.length, isCut, progress], [25, false, [10, 20, 25]]);
  const cut = await fetchAllRows(ask, note, firstPage, abilities, { ...options, limit: 12 });
  assert.deepEqual([cut.rows.length, cut.isCut], [12, true]);
  const refuse = async () => ({ errors: [{ message: 'no' }] });
  await assert.rejects(fetchAllRows(refuse, note, firstPage, abilities, options), /^Error: no$/);
});

test('keys move in the grid and stop at its edges', () => {
  const press = (key: string, place = { row: 1, column: 1 }, held = {}) =>
    moveInGrid(place, { row: 31, column: 5 }, { key, ctrlKey: false, metaKey: false, altKey: false, ...held });
  const go = (row: number, to: number) => ({ kind: 'go', place: { row, column: to } });
  assert.deepEqual(press('ArrowUp'), go(0, 1));
  assert.deepEqual(press('ArrowUp', { row: 0, column: 1 }), go(0, 1));
  assert.deepEqual(press('ArrowRight', { row: 1, column: 4 }), go(1, 4));
  assert.deepEqual(press('PageDown', { row: 25, column: 2 }), go(30, 2));
  assert.deepEqual(press('End', undefined, { ctrlKey: true }), go(30, 4));
  assert.deepEqual(press('a'), { kind: 'edit', text: 'a' });
  assert.deepEqual(press('Delete'), { kind: 'clear' });
  assert.deepEqual(press('z', undefined, { metaKey: true }), { kind: 'undo' });
  assert.equal(press('a', { row: 0, column: 1 }), null);
  assert.equal(press('a', undefined, { altKey: true }), null);
});
