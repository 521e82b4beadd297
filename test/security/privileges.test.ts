/** What a role may read, write and call: row level security and grants, at every place of a request where rows or columns can show. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Caller } from '../../src/engine/request.ts';
import { createRowgraph, type Rowgraph } from '../../src/index.ts';
import { startTestDatabases, type TestDatabase, type TestDatabases } from '../support/test-databases.ts';

const setup = `
  create function me() returns text stable language sql as $$ select current_setting('request.jwt.claims')::json ->> 'sub' $$;
  create table person (id int primary key, name text, boss int references person);
  create table letter (id int primary key, sender int references person, receiver int references person, body text, weight int);
  create table staff (id int primary key, name text, secret text default 'secret', weight int);
  create function first_letter(person) returns setof letter rows 1 stable language sql as
    $$ select * from letter where sender = $1.id order by id limit 1 $$;
  create function letters_of(person) returns setof letter stable language sql as $$ select * from letter where sender = $1.id $$;
  create function letter_count(person) returns bigint stable language sql as $$ select count(*) from letter where sender = $1.id $$;
  create function all_letters() returns setof letter stable language sql as $$ select * from letter $$;
  create function the_letter(id int) returns letter stable language sql as $$ select * from letter l where l.id = the_letter.id $$;
  create function send_again(id int) returns setof letter volatile language sql as $$ update letter l set weight = weight + 1 where l.id = send_again.id returning * $$;
  create view letter_view as select * from letter;
  create function for_service() returns text stable language sql as $$ select 'secret' $$;
  comment on schema public is '@graphql({"inflect_names": true})';
  comment on table letter is '@graphql({"totalCount": {"enabled": true}, "aggregate": {"enabled": true}})';
  comment on view letter_view is '@graphql({"primary_key_columns": ["id"], "totalCount": {"enabled": true}})';
  alter table letter enable row level security;
  create policy own on letter to authenticated using (sender = (select id from person where name = me()) or receiver = (select id from person where name = me()))
    with check (sender = (select id from person where name = me()));
  create policy every on letter to service_role using (true);
  revoke all on letter, letter_view from anon;
  comment on table staff is '@graphql({"aggregate": {"enabled": true}})';
  revoke all on staff from anon, authenticated;
  grant select (id, name), insert (id, name), update (name), delete on staff to authenticated;
  insert into staff (id, name) values (1, 'ada');
  revoke execute on function for_service() from public, anon, authenticated;
  insert into person values (1, 'ada', null), (2, 'bob', 1), (3, 'eve', 1);
  insert into letter (id, sender, receiver, body, weight) values (1, 1, 2, 'a to b', 1), (2, 2, 1, 'b to a', 2), (3, 3, 3, 'e to e', 4), (4, 1, 1, 'a to a', 8);
`;

let databases: TestDatabases;
let database: TestDatabase;
let graph: Rowgraph;

before(async () => {
  databases = await startTestDatabases();
  // Before version 15 a view always reads as its owner.
  const reader = databases.version >= 15 ? 'set (security_invoker = true)' : 'owner to authenticated';
  database = await databases.create(`${setup} alter view letter_view ${reader};`);
  graph = await createRowgraph({ database: database.url });
});
after(async () => {
  await graph.close();
  await databases.close();
});

const service: Caller = { role: 'service_role' };
const caller = (sub: string): Caller => ({ role: 'authenticated', claims: { sub } });
const nobody: Caller = { role: 'anon' };

async function data(query: string, as: Caller): Promise<unknown> {
  const result = await graph.execute({ query }, as);
  assert.equal(result.errors, undefined, JSON.stringify(result.errors));
  return JSON.parse(JSON.stringify(result.data));
}

async function refusal(query: string, as: Caller): Promise<string> {
  const { data: given, errors } = await graph.execute({ query }, as);
  assert.equal(given ?? null, null, JSON.stringify(given));
  return `${errors?.[0]?.extensions.code}: ${errors?.[0]?.message}`;
}

const ids = (edges: readonly number[]) => ({ edges: edges.map((id) => ({ node: { id } })) });

test('policies decide rows in collections, counts and aggregates', async () => {
  const query =
    '{ letterCollection(filter: {weight: {gt: 0}}) { totalCount aggregate { count sum { weight } max { body } } edges { node { id } } } }';
  const of = (edges: number[], sum: number | null, max: string | null) => ({
    letterCollection: {
      totalCount: edges.length,
      aggregate: { count: edges.length, sum: { weight: sum === null ? null : `${sum}` }, max: { body: max } },
      ...ids(edges),
    },
  });
  assert.deepEqual(await data(query, caller('ada')), of([1, 2, 4], 11, 'b to a'));
  assert.deepEqual(await data(query, caller('eve')), of([3], 4, 'e to e'));
  assert.deepEqual(await data(query, caller('mallory')), of([], null, null));
  assert.deepEqual(await data(query, service), of([1, 2, 3, 4], 15, 'e to e'));
});

test('policies decide rows in relations, computed fields and functions', async () => {
  const query = `{ personCollection(orderBy: [{id: AscNullsLast}]) { edges { node {
    name lettersBySender: letterBySenderCollection { totalCount edges { node { id } } }
    firstLetter { id } lettersOf { edges { node { id } } } letterCount
  } } } allLetters { totalCount } theLetter(id: 3) { id } }`;
  const schema = await graph.sdl({ role: 'authenticated' });
  const relation = /(\w+)\([^)]*\): LetterConnection/.exec(schema.slice(schema.indexOf('type Person ')))?.[1];
  const text = query.replace('letterBySenderCollection', relation ?? '');
  const person = (name: string, sent: number[]) => ({
    node: {
      name,
      lettersBySender: { totalCount: sent.length, ...ids(sent) },
      firstLetter: sent[0] === undefined ? null : { id: sent[0] },
      lettersOf: ids(sent),
      letterCount: String(sent.length),
    },
  });
  const of = (people: unknown[], count: number, third: unknown) => ({
    personCollection: { edges: people },
    allLetters: { totalCount: count },
    theLetter: third,
  });
  assert.deepEqual(await data(text, caller('bob')), of([person('ada', [1]), person('bob', [2]), person('eve', [])], 2, null));
  assert.deepEqual(await data(text, service), of([person('ada', [1, 4]), person('bob', [2]), person('eve', [3])], 4, { id: 3 }));
});

test('policies decide rows by nodeId, by key, by cursor and through views', async () => {
  const nodeId = (table: string, id: number) => Buffer.from(JSON.stringify(['public', table, id])).toString('base64');
  const query = `{ own: node(nodeId: "${nodeId('letter', 1)}") { ... on Letter { id } } other: node(nodeId: "${nodeId('letter', 3)}") { ... on Letter { id } }
    byPk: letterByPk(id: 3) { id } after: letterCollection(after: "${Buffer.from('[2]').toString('base64')}") { edges { node { id } } }
    letterViewCollection { totalCount edges { node { id } } } }`;
  assert.deepEqual(await data(query, caller('ada')), {
    own: { id: 1 },
    other: null,
    byPk: null,
    after: ids([4]),
    letterViewCollection: { totalCount: 3, ...ids([1, 2, 4]) },
  });
});

test('policies decide rows in mutations and in what they give back', async () => {
  const all = 'mutation { updateLetterCollection(set: {body: "new"}, atMost: 10) { affectedCount records { id sender body } } }';
  assert.deepEqual(await data(all, caller('eve')), {
    updateLetterCollection: { affectedCount: 1, records: [{ id: 3, sender: 3, body: 'new' }] },
  });
  assert.match(
    await refusal(all, caller('ada')),
    /^PERMISSION_DENIED: .*row-level security/,
    'bob wrote one of the letters that ada can see',
  );
  const insert = (sender: number) =>
    `mutation { insertIntoLetterCollection(objects: [{id: 9, sender: ${sender}, receiver: 2}]) { affectedCount records { id person: senderName } } }`.replace(
      'person: senderName',
      'sender',
    );
  assert.match(await refusal(insert(1), caller('bob')), /^PERMISSION_DENIED/);
  assert.deepEqual(await data(insert(2), caller('bob')), {
    insertIntoLetterCollection: { affectedCount: 1, records: [{ id: 9, sender: 2 }] },
  });
  const remove = 'mutation { deleteFromLetterCollection(filter: {id: {in: [3, 9]}}, atMost: 10) { affectedCount records { id } } }';
  assert.deepEqual(await data(remove, caller('bob')), { deleteFromLetterCollection: { affectedCount: 1, records: [{ id: 9 }] } });
  assert.deepEqual(await data('mutation { sendAgain(id: 3) { edges { node { id } } } }', caller('ada')), { sendAgain: { edges: [] } });
  const bodies = await database.run('select id, body, weight from letter order by id');
  assert.deepEqual(
    bodies.map(({ id, body, weight }) => `${id} ${body} ${weight}`),
    ['1 a to b 1', '2 b to a 2', '3 new 4', '4 a to a 8'],
  );
});

test('a column without a grant is nowhere: not to be read, filtered, ordered, aggregated, written or given back', async () => {
  const user = caller('ada');
  for (const query of [
    '{ staffCollection { edges { node { secret } } } }',
    '{ staffCollection(filter: {secret: {eq: "secret"}}) { edges { node { id } } } }',
    '{ staffCollection(filter: {not: {or: [{secret: {like: "s%"}}]}}) { edges { node { id } } } }',
    '{ staffCollection(orderBy: [{secret: AscNullsFirst}]) { edges { node { id } } } }',
    '{ staffCollection { aggregate { max { secret } } } }',
    '{ staffByPk(id: 1) { secret } }',
    'mutation { insertIntoStaffCollection(objects: [{id: 2, secret: "x"}]) { affectedCount } }',
    'mutation { insertIntoStaffCollection(objects: [{id: 2, name: "x"}]) { records { secret } } }',
    'mutation { updateStaffCollection(set: {secret: "x"}, filter: {id: {eq: 1}}) { affectedCount } }',
    'mutation { updateStaffCollection(set: {id: 7}, filter: {id: {eq: 1}}) { affectedCount } }',
    'mutation { updateStaffCollection(set: {name: "x"}, filter: {secret: {eq: "x"}}) { affectedCount } }',
    'mutation { updateStaffCollection(set: {name: "x"}) { records { secret } } }',
    'mutation { deleteFromStaffCollection(filter: {secret: {eq: "x"}}) { affectedCount } }',
  ]) {
    assert.match(await refusal(query, user), /^GRAPHQL_VALIDATION_FAILED/, query);
  }
  const variable = {
    query: 'query ($f: StaffFilter) { staffCollection(filter: $f) { edges { node { id } } } }',
    variables: { f: { secret: { eq: 'secret' } } },
  };
  assert.equal((await graph.execute(variable, user)).errors?.[0]?.extensions.code, 'BAD_USER_INPUT');
  assert.ok(!(await graph.sdl({ role: 'authenticated' })).includes('secret'));
  const query = `mutation { insertIntoStaffCollection(objects: [{id: 2, name: "bob"}]) { records { id name nodeId } }
    updateStaffCollection(set: {name: "eve"}, filter: {id: {eq: 2}}) { records { name } } deleteFromStaffCollection(filter: {name: {eq: "eve"}}) { affectedCount } }`;
  assert.deepEqual(await data(query, user), {
    insertIntoStaffCollection: { records: [{ id: 2, name: 'bob', nodeId: Buffer.from('["public", "staff", 2]').toString('base64') }] },
    updateStaffCollection: { records: [{ name: 'eve' }] },
    deleteFromStaffCollection: { affectedCount: 1 },
  });
});

test('a role sees and calls what it may, and nothing else', async () => {
  assert.match(await refusal('{ letterCollection { edges { node { id } } } }', nobody), /^GRAPHQL_VALIDATION_FAILED/);
  assert.match(await refusal('{ forService }', nobody), /^GRAPHQL_VALIDATION_FAILED/);
  assert.match(await refusal('{ forService }', caller('ada')), /^GRAPHQL_VALIDATION_FAILED/);
  assert.deepEqual(await data('{ forService }', service), { forService: 'secret' });
  // The document is the same for all of them, and known by now.
  assert.match(await refusal('{ forService }', nobody), /^GRAPHQL_VALIDATION_FAILED/);
  // The function reads with the rights of who calls it.
  assert.match(
    await refusal('{ personCollection { edges { node { letterCount } } } }', nobody),
    /^PERMISSION_DENIED: permission denied for table letter$/,
  );
});

test('without introspection, no error names what the document does not', async () => {
  const fields = '{ personCollection(filter: $f, orderBy: $o) { edges { node { name } } } }';
  const guesses: { query: string; variables?: Record<string, unknown> }[] = [
    { query: '{ Collection { edges { node { id } } } }' },
    { query: '{ personCollectio { edges { node { id } } } }' },
    { query: '{ personCollection(filte: {}) { edges { node { id } } } }' },
    { query: '{ personCollection { edges { node { nam } } } }' },
    { query: '{ personCollection(filter: {nam: {eq: "x"}}) { edges { node { id } } } }' },
    { query: '{ personCollection(filter: {name: {ek: "x"}}) { edges { node { id } } } }' },
    { query: '{ personCollection(orderBy: [{id: AscNullsLas}]) { edges { node { id } } } }' },
    { query: 'mutation { insertIntoPersonCollection(objects: [{nam: "x"}]) { affectedCount } }' },
    { query: 'mutation { insertIntoCollection(objects: []) { affectedCount } }' },
    { query: `query ($f: PersonFilte, $o: [PersonOrderBy!]) ${fields}` },
    { query: `query ($f: PersonFilter = {nam: {eq: "x"}}, $o: [PersonOrderBy!]) ${fields}` },
    { query: `query ($f: PersonFilter, $o: [PersonOrderBy!]) ${fields}`, variables: { f: { nam: { eq: 'x' } } } },
    { query: `query ($f: PersonFilter, $o: [PersonOrderBy!]) ${fields}`, variables: { o: [{ id: 'AscNullsLas' }] } },
    { query: '{ node(nodeId: "x") { name } }' },
    { query: '{ personCollection { edges { node { ... on Perso { id } } } } }' },
    { query: '{ personCollection { edges @skip(iff: true) { node { id } } } }' },
    { query: '{ personCollection @ski(if: true) { edges { node { id } } } }' },
  ];
  for (const request of guesses) {
    const { errors = [] } = await graph.execute(request, service);
    assert.notEqual(errors.length, 0, request.query);
    for (const { message } of errors) {
      assert.doesNotMatch(message, /did you mean/i);
      // The message may repeat what the document says, and name the type of what it gets wrong.
      const names = /\b(personCollection|letter\w*|staff\w*|insertIntoPersonCollection|name|eq|orderBy|AscNullsLast)\b/g;
      const told = [...message.matchAll(names)].map(([name]) => name);
      assert.deepEqual(
        told.filter((name) => !request.query.includes(name)),
        [],
      );
    }
  }
});
