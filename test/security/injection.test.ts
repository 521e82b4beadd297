/** Every place where a client's text can end up, each with every hostile text: nothing runs, nothing leaks, and what is stored is the text. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { GraphQLRequest } from '../../src/engine/request.ts';
import { createRowgraph, type Rowgraph } from '../../src/index.ts';
import { openRecordedPool, type RecordedPool } from '../support/recorded-pool.ts';
import { startTestDatabases, type TestDatabase, type TestDatabases } from '../support/test-databases.ts';
import { blockQuoted, catalogChecksum, hostileTexts, leaksOf, marker, quoted, storableTexts, unstorableTexts } from './hostile-texts.ts';

const setup = `
  create table canary (id int);
  create type mood as enum ('calm', 'it''s "wild"');
  create domain label as text;
  create table item (
    id serial primary key, a_text text, a_varchar varchar(100000), a_char char(5), a_label label, an_int int, a_bigint bigint, a_numeric numeric,
    a_float float8, a_bool bool, a_uuid uuid, a_date date, a_time time, a_timetz timetz, a_timestamp timestamp, a_timestamptz timestamptz,
    a_json json, a_jsonb jsonb, a_mood mood, an_inet inet, an_interval interval, a_bytea bytea, a_money money, a_point point,
    texts text[], ints int[], moods mood[], parent int references item
  );
  insert into item (a_text, a_mood, texts, parent) select 'text ' || n, 'calm', array['a', 'b'], 1 from generate_series(1, 5) n;
  create table keyed (tenant text, code text, note text, primary key (tenant, code));
  insert into keyed values ('a', 'b', 'first'), ('a', 'c', 'second');
  create function echo(value text) returns text stable language sql as 'select value';
  create function echo_list(list text[], extra jsonb default null, feeling mood default 'calm') returns text[] stable language sql as 'select list';
  create function note_down(note text) returns text volatile language sql as 'select note';
  create function shout(item) returns text stable language sql as 'select upper($1.a_text)';
  comment on schema public is '@graphql({"inflect_names": true, "introspection": true})';
  comment on table item is '@graphql({"totalCount": {"enabled": true}, "aggregate": {"enabled": true}})';
`;

let databases: TestDatabases;
let database: TestDatabase;
let recorded: RecordedPool;
let graph: Rowgraph;

before(async () => {
  databases = await startTestDatabases();
  database = await databases.create(setup);
  recorded = openRecordedPool(database.url, 4);
  graph = await createRowgraph({ database: recorded.pool });
});
after(async () => {
  await graph.close();
  await recorded.pool.end();
  await databases.close();
});

const checksum = async (): Promise<unknown> => (await database.run(catalogChecksum))[0]?.checksum;
const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64');

type Place = (text: string) => GraphQLRequest;
const items = (args: string): string => `{ itemCollection(${args}) { edges { cursor node { id aText moods } } } }`;

/** The text stands in the document as it is, most of the time as a syntax error. */
const rawPlaces: Record<string, Place> = {
  document: (text) => ({ query: text }),
  field: (text) => ({ query: `{ itemCollection { edges { node { ${text} } } } }` }),
  'root field': (text) => ({ query: `{ ${text} }` }),
  alias: (text) => ({ query: `{ ${text}: itemCollection { edges { node { id } } } }` }),
  argument: (text) => ({ query: items(`${text}: 1`) }),
  'enum literal': (text) => ({ query: items(`filter: {aMood: {eq: ${text}}}`) }),
  'order literal': (text) => ({ query: items(`orderBy: [{${text}: AscNullsFirst}]`) }),
  'direction literal': (text) => ({ query: items(`orderBy: [{id: ${text}}]`) }),
  operation: (text) => ({ query: `query ${text} { __typename }`, operationName: text }),
  'operation name': (text) => ({ query: 'query A { __typename } query B { __typename }', operationName: text }),
  variable: (text) => ({ query: `query ($${text}: String) { echo(value: $${text}) }`, variables: { [text]: text } }),
  'variable type': (text) => ({ query: `query ($v: ${text}) { echo(value: $v) }`, variables: { v: text } }),
  directive: (text) => ({ query: `{ echo(value: "x") @${text} @include(if: "${text}") }` }),
  fragment: (text) => ({ query: `{ ...${text} } fragment ${text} on ${text} { __typename }` }),
  comment: (text) => ({ query: `# ${text}\n{ __typename }` }),
  '__type name': (text) => ({ query: `{ __type(name: ${quoted(text)}) { name } }` }),
  'first of a page': (text) => ({ query: items(`first: ${text}`) }),
};

/** The columns with the operators of their filters. */
const columns: Record<string, readonly string[]> = {
  aText: ['eq', 'neq', 'lt', 'gte', 'in', 'like', 'ilike', 'regex', 'iregex', 'startsWith'],
  aVarchar: ['eq', 'in', 'regex'],
  aChar: ['eq'],
  aLabel: ['eq'],
  anInt: ['eq', 'in'],
  aBigint: ['eq', 'in', 'gt'],
  aNumeric: ['eq', 'in', 'gt'],
  aFloat: ['eq'],
  aBool: ['eq', 'in'],
  aUuid: ['eq', 'in'],
  aDate: ['eq', 'in', 'lt'],
  aTime: ['eq', 'in'],
  aTimetz: ['eq'],
  aTimestamp: ['eq'],
  aTimestamptz: ['eq', 'gte'],
  aMood: ['eq', 'in', 'is'],
  anInet: ['eq', 'in'],
  anInterval: ['eq'],
  aBytea: ['eq'],
  aMoney: ['eq'],
  texts: ['contains', 'containedBy', 'overlaps', 'eq'],
  ints: ['contains', 'overlaps'],
  moods: ['contains'],
  nodeId: ['eq'],
  [marker]: ['eq'],
};
const written = Object.keys(columns).filter((column) => column !== 'nodeId');

const valuePlaces: Record<string, Place> = {
  'string literal': (text) => ({ query: `{ echo(value: ${quoted(text)}) }` }),
  'block string literal': (text) => ({ query: `{ echo(value: ${blockQuoted(text)}) }` }),
  'argument of a function': (text) => ({ query: 'query ($v: String!) { echo(value: $v) }', variables: { v: text } }),
  'default of a variable': (text) => ({ query: `query ($v: String = ${quoted(text)}) { echo(value: $v) }` }),
  'array of a function': (text) => ({ query: 'query ($v: [String]!) { echoList(list: $v) }', variables: { v: [text, null, text] } }),
  'JSON of a function': (text) => ({
    query: 'query ($v: JSON) { echoList(list: [], extra: $v) }',
    variables: { v: JSON.stringify({ [text]: text }) },
  }),
  'bad JSON of a function': (text) => ({ query: 'query ($v: JSON) { echoList(list: [], extra: $v) }', variables: { v: text } }),
  'enum of a function': (text) => ({ query: 'query ($v: Mood) { echoList(list: [], feeling: $v) }', variables: { v: text } }),
  'volatile function': (text) => ({ query: 'mutation ($v: String!) { noteDown(note: $v) }', variables: { v: text } }),
  cursor: (text) => ({ query: items(`after: ${quoted(text)}`) }),
  'cursor variable': (text) => ({
    query: 'query ($c: Cursor) { itemCollection(before: $c, last: 1) { edges { cursor } } }',
    variables: { c: text },
  }),
  'value in a cursor': (text) => ({ query: items(`after: "${base64([text])}"`) }),
  'values in a cursor': (text) => ({ query: items(`after: "${base64([text, 1])}", orderBy: [{aText: AscNullsFirst}]`) }),
  'object in a cursor': (text) => ({ query: items(`after: "${base64({ [text]: text })}"`) }),
  nodeId: (text) => ({ query: `query ($n: ID!) { node(nodeId: $n) { nodeId } }`, variables: { n: text } }),
  'schema in a nodeId': (text) => ({ query: '{ node(nodeId: $n) { nodeId } }'.replace('$n', `"${base64([text, 'item', 1])}"`) }),
  'table in a nodeId': (text) => ({ query: `{ node(nodeId: "${base64(['public', text, 1])}") { nodeId } }` }),
  'key in a nodeId': (text) => ({ query: `{ node(nodeId: "${base64(['public', 'item', text])}") { nodeId } }` }),
  'keys in a nodeId': (text) => ({ query: `{ node(nodeId: "${base64(['public', 'keyed', text, text])}") { ... on Keyed { note } } }` }),
  'nodeId in a filter': (text) => ({ query: items(`filter: {nodeId: {eq: "${base64(['public', 'item', text])}"}}`) }),
  'key of a row': (text) => ({ query: 'query ($t: String!) { keyedByPk(tenant: $t, code: $t) { note } }', variables: { t: text } }),
  'order variable': (text) => ({
    query: 'query ($o: [ItemOrderBy!]) { itemCollection(orderBy: $o) { edges { node { id } } } }',
    variables: { o: [{ [text]: 'AscNullsFirst' }] },
  }),
  'direction variable': (text) => ({
    query: 'query ($o: OrderByDirection) { itemCollection(orderBy: [{id: $o}]) { edges { node { id } } } }',
    variables: { o: text },
  }),
  'filter of an update': (text) => ({
    query: 'mutation ($v: String) { updateKeyedCollection(set: {note: "x"}, filter: {code: {eq: $v}}) { affectedCount } }',
    variables: { v: text },
  }),
  'filter of a delete': (text) => ({
    query: 'mutation ($v: [String!]!) { deleteFromKeyedCollection(filter: {code: {in: $v}}) { affectedCount } }',
    variables: { v: [text] },
  }),
  'variables of any shape': (text) => ({
    query: '{ __typename }',
    variables: { [text]: { [text]: [text] } },
    extensions: { [text]: text },
  }),
};
for (const [column, operators] of Object.entries(columns)) {
  for (const operator of operators) {
    valuePlaces[`${operator} of ${column}`] = (text) => ({
      query: 'query ($f: ItemFilter) { itemCollection(filter: $f) { totalCount edges { node { id shout } } } }',
      variables: {
        f: { [column]: { [operator]: ['in', 'contains', 'containedBy', 'overlaps'].includes(operator) ? [text, text] : text } },
      },
    });
  }
}

/** Writes that must fail, or write the text. */
const writePlaces: Record<string, Place> = {};
for (const column of written) {
  writePlaces[`insert of ${column}`] = (text) => ({
    query: 'mutation ($o: [ItemInsertInput!]!) { insertIntoItemCollection(objects: $o) { affectedCount records { id } } }',
    variables: { o: [{ [column]: /^(texts|ints|moods)$/.test(column) ? [text] : text }] },
  });
  writePlaces[`update of ${column}`] = (text) => ({
    query: 'mutation ($s: ItemUpdateInput!) { updateItemCollection(set: $s, filter: {id: {eq: 5}}) { affectedCount } }',
    variables: { s: { [column]: /^(texts|ints|moods)$/.test(column) ? [text] : text } },
  });
}

/** What is no text to PostgreSQL is refused by its type's own input function, the same for all of them: some tell as much as all. */
const someTexts = hostileTexts.filter((_, index) => index % 5 === 0);
const isOfText = (name: string): boolean => !/ of (a|an)[A-Z](?!ext|archar|abel|ood)/.test(name);

/** Sends the texts to a place. */
async function tryPlace(name: string, place: Place): Promise<void> {
  const texts = isOfText(name) ? hostileTexts : someTexts;
  const attempts = texts.map(async (text) => {
    const { errors } = await graph.execute(place(text), { role: 'service_role', claims: { sub: text, [text]: { [text]: [text] } } });
    assert.deepEqual(leaksOf(errors, text), [], JSON.stringify(text.slice(0, 100)));
  });
  await Promise.all(attempts);
}

function assertNoMarkerInSql(): void {
  assert.ok(recorded.texts.length > 0);
  assert.equal(
    recorded.texts.find((text) => text.includes(marker) || text.includes('canary')),
    undefined,
  );
}

for (const [kind, places] of Object.entries({ names: rawPlaces, values: valuePlaces })) {
  test(`hostile ${kind} change nothing and are in no statement`, async (t) => {
    const before = await checksum();
    for (const [name, place] of Object.entries(places)) await t.test(name, () => tryPlace(name, place));
    assert.equal(await checksum(), before);
    assertNoMarkerInSql();
  });
}

test('hostile values that are written change one value each at most', async (t) => {
  for (const [name, place] of Object.entries(writePlaces)) await t.test(name, () => tryPlace(name, place));
  assert.deepEqual(await database.run('select * from canary'), []);
  assertNoMarkerInSql();
  const strange = "select column_name from information_schema.columns where table_schema = 'public' and column_name ~ 'hostile'";
  assert.deepEqual(await database.run(strange), []);
});

test('what can be stored is stored byte for byte and comes back so', async () => {
  await database.run('truncate item restart identity');
  const objects = storableTexts.map((text) => ({
    aText: text,
    aVarchar: text,
    texts: [text, null],
    aJsonb: JSON.stringify({ [text]: text }),
  }));
  const insert = `mutation ($objects: [ItemInsertInput!]!) {
    insertIntoItemCollection(objects: $objects) { records { aText aVarchar texts aJsonb } } }`;
  const { data, errors } = await graph.execute({ query: insert, variables: { objects } }, { role: 'service_role' });
  assert.equal(errors, undefined);
  const records = (data as { insertIntoItemCollection: { records: (typeof objects)[number][] } }).insertIntoItemCollection.records;
  assert.deepEqual(
    records.map(({ aJsonb, ...rest }) => ({ ...rest, aJsonb: JSON.parse(aJsonb) })),
    objects.map(({ aJsonb, ...rest }) => ({ ...rest, aJsonb: JSON.parse(aJsonb) })),
  );
  const rows = await database.run('select a_text, a_varchar, texts, a_jsonb from item order by id');
  assert.deepEqual(
    rows,
    storableTexts.map((text) => ({ a_text: text, a_varchar: text, texts: [text, null], a_jsonb: { [text]: text } })),
  );
  for (const text of storableTexts) {
    const query =
      'query ($v: String!) { itemCollection(filter: {aText: {eq: $v}, texts: {contains: [$v]}}) { totalCount } echo(value: $v) }';
    const found = await graph.execute({ query, variables: { v: text } }, { role: 'service_role' });
    assert.deepEqual(found, { data: { itemCollection: { totalCount: 1 }, echo: text } });
    const literal = await graph.execute({ query: `{ echo(value: ${quoted(text)}) }` }, { role: 'service_role' });
    assert.deepEqual(literal, { data: { echo: text } });
  }
});

test('what cannot be stored is refused and not changed into something else', async () => {
  const query = 'mutation ($v: String!) { insertIntoItemCollection(objects: [{aText: $v}]) { affectedCount } }';
  const before = await checksum();
  for (const text of unstorableTexts) {
    const { errors } = await graph.execute({ query, variables: { v: text } }, { role: 'service_role' });
    assert.equal(errors?.[0]?.extensions.code, 'BAD_USER_INPUT', JSON.stringify(text));
    const filter = 'query ($v: String!) { itemCollection(filter: {aText: {eq: $v}}) { totalCount } }';
    assert.deepEqual(await graph.execute({ query: filter, variables: { v: text } }, { role: 'service_role' }), {
      data: { itemCollection: { totalCount: 0 } },
    });
  }
  assert.equal(await checksum(), before);
});

test('claims are values, whatever is in them', async () => {
  await database.run(`create function claim() returns text stable language sql as
    $$ select current_setting('request.jwt.claims')::json ->> 'sub' $$`);
  // So many invalid requests have come before that this one need not be compared with the database.
  await graph.reload();
  for (const text of [...storableTexts, ...unstorableTexts.filter((each) => !each.includes('\0'))]) {
    const { data, errors } = await graph.execute(
      { query: '{ claim }' },
      { role: 'anon', claims: { sub: text, [text]: text, role: 'postgres' } },
    );
    if (storableTexts.includes(text)) assert.deepEqual({ data, errors }, { data: { claim: text }, errors: undefined });
    else assert.deepEqual(leaksOf(errors, text), []);
  }
});

test('a hostile role does not exist', async () => {
  const before = await checksum();
  const roles = [
    ...hostileTexts,
    'none',
    'NONE',
    '"anon"',
    'anon; set role postgres',
    'public',
    'current_user',
    'session_user',
    'pg_read_all_data',
    'postgres',
  ];
  for (const role of roles) {
    const { data, errors } = await graph.execute({ query: '{ itemCollection { totalCount } }' }, { role });
    assert.deepEqual([data ?? null, errors?.[0]?.extensions.code], [null, 'UNAUTHENTICATED'], JSON.stringify(role.slice(0, 100)));
    assert.deepEqual(leaksOf(errors, role), []);
  }
  assert.equal(await checksum(), before);
  assertNoMarkerInSql();
});
