/** Nested writes on a PostgreSQL server: keys of every type find their way to the rows that refer to them, policies and grants hold at every level, and a tree of thousands is a few statements. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createRowgraph, type Rowgraph } from '../../src/index.ts';
import { startTestDatabases, type TestDatabase, type TestDatabases } from '../support/test-databases.ts';

/** Types of keys, with values whose texts are hard to carry, as inputs and as PostgreSQL has them. */
const keyTypes: readonly (readonly [type: string, inputs: readonly unknown[], texts?: readonly string[]])[] = [
  ['uuid', ['6a0e3d02-6a0e-4b6b-9c51-0123456789ab']],
  ['text', [`a 'quote', a "double", a \\ and a comma`, '😀 {é}', ' ', '', 'NULL', 'null', 'line\nfeed\ttab']],
  ['char(5)', ['ab']],
  ['varchar(5)', ['😀😀😀😀😀']],
  ['citext', ['MiXed']],
  ['bytea', ['\\x00ff27225c']],
  ['numeric(30,10)', ['12345678901234567890.0123456789']],
  ['numeric', ['NaN', '0.000']],
  ['float8', [0.1, 1e-300, 2.718281828459046, 5e-324], ['0.1', '1e-300', '2.718281828459046', '5e-324']],
  ['float4', [0.1, 16777216], ['0.1', '1.6777216e+07']],
  ['int8', ['9223372036854775807']],
  ['timestamptz', ['2026-01-02 03:04:05.678901+00', 'infinity']],
  ['timestamp', ['0044-03-15 12:00:00 BC']],
  ['date', ['1999-12-31']],
  ['time', ['24:00:00']],
  ['interval', ['1 year -3 days +04:05:06.789']],
  ['boolean', [true], ['true']],
  ['inet', ['::1/64']],
  ['int4range', ['[1,5)', 'empty']],
  ['jsonb', ['{"a": [1, "x,y"], "b": null}']],
  ['bit varying', ['10110']],
  ['"Odd_Mood"', ['so', 'fine'], [`so "so", or 'so'`, 'fine']],
  ['short', ['xyz']],
  ['xid8', ['18446744073709551615']],
  ['int4[]', [[1, null, 3]], ['{1,NULL,3}']],
  ['text[]', [['a,b', '{c}', null, '']], ['{"a,b","{c}",NULL,""}']],
];

let databases: TestDatabases;
let database: TestDatabase;
let graph: Rowgraph;

before(async () => {
  databases = await startTestDatabases();
  const tables = keyTypes.map(
    ([type], number) => `
        create table one${number}(id ${type} primary key, word text);
        create table many${number}(id int primary key generated always as identity, one_id ${type} references one${number}, word text);`,
  );
  database = await databases.create(`
    comment on schema public is '@graphql({"inflect_names": true, "introspection": true})';
    create extension if not exists citext;
    create type "Odd_Mood" as enum ('so "so", or ''so''', 'fine');
    comment on type "Odd_Mood" is '@graphql({"mappings": {"so \\"so\\", or ''so''": "so"}})';
    create domain short as text check (length(value) < 5);
    ${tables.join('\n')}

    create table team(id int primary key generated always as identity, name text not null);
    create table member(id int primary key generated always as identity, team_id int references team, name text not null, unique (name));
    create table page(id int primary key generated always as identity, title text not null default 'untitled');
    create table line(id int primary key generated always as identity, page_id int references page, words text);
    create table dropped(id int primary key generated always as identity, member_id int references member, word text);
    create function drop_odd() returns trigger language plpgsql as $$ begin if new.word = 'odd' then return null; end if; return new; end $$;
    create trigger t before insert on dropped for each row execute function drop_odd();
    create table under_dropped(id int primary key generated always as identity, dropped_id int references dropped);

    create table owner(id int primary key generated always as identity, name text not null unique);
    create table secret(id int primary key generated always as identity, owner_id int references owner, who text not null, code text unique, public boolean default true);
    alter table secret enable row level security;
    create policy reading on secret for select to anon using (who in ('anon', 'shown'));
    create policy writing on secret for insert to anon with check (who = 'anon');
    create policy changing on secret for update to anon using (who = 'anon') with check (who = 'anon');
    create policy removing on secret for delete to anon using (who = 'anon');
    insert into owner(name) values ('first'), ('second');
    insert into secret(owner_id, who, code) values (1, 'anon', 'mine'), (1, 'shown', 'theirs'), (1, 'hidden', 'none');
    create table granted(id int primary key generated always as identity, owner_id int references owner, word text);
    revoke all on granted from anon;
    grant select (id, owner_id), insert (word), update (word) on granted to anon;
  `);
  graph = await createRowgraph({ database: database.url });
});
after(async () => {
  await graph.close();
  await databases.close();
});

const run = async (query: string, variables?: Record<string, unknown>, role = 'service_role') => {
  const { data, errors } = await graph.execute({ query, variables: variables ?? null }, { role });
  return {
    data,
    error: errors?.[0] && { code: errors[0].extensions?.code, input: errors[0].extensions?.input, message: errors[0].message },
  };
};

/** Few rows are bound as values, many as arrays. */
const rowCounts = [2, 12];

for (const [[number, [type, inputs, texts]], count] of [...keyTypes.entries()].flatMap((each) =>
  rowCounts.map((count) => [each, count] as const),
)) {
  test(`keys of type ${type} reach the ${count} rows that refer to each`, async () => {
    await database.run(`truncate one${number}, many${number}`);
    const many = `many${number}Collection`;
    const words = Array.from({ length: count }, (_, index) => String.fromCharCode(97 + index));
    const objects = inputs.map((id) => ({ id, [many]: { create: words.map((word) => ({ word })) } }));
    const inserted = await run(
      `mutation($objects: [One${number}InsertInput!]!) {
        insertIntoOne${number}Collection(objects: $objects) { affectedCount records { ${many} { edges { node { word } } } } }
      }`,
      { objects },
    );
    assert.equal(inserted.error, undefined);
    const record = { [many]: { edges: words.map((word) => ({ node: { word } })) } };
    assert.deepEqual(inserted.data, {
      [`insertIntoOne${number}Collection`]: { affectedCount: inputs.length, records: inputs.map(() => record) },
    });
    const connected = await run(
      `mutation($objects: [Many${number}InsertInput!]!) { insertIntoMany${number}Collection(objects: $objects) { affectedCount } }`,
      { objects: words.flatMap(() => inputs.map((id) => ({ word: 'z', one: { connect: { id } } }))) },
    );
    assert.deepEqual(connected, {
      data: { [`insertIntoMany${number}Collection`]: { affectedCount: count * inputs.length } },
      error: undefined,
    });
    const stored = await database.run(`
      select rtrim(one.id::text) as id, string_agg(many.word, '' order by many.id) as words
      from one${number} as one join many${number} as many on many.one_id = one.id group by one.id, one.word order by min(many.id)`);
    const expected = texts ?? (inputs as readonly string[]);
    assert.deepEqual(
      stored,
      expected.map((id) => ({ id: id.trimEnd(), words: words.join('').padEnd(2 * count, 'z') })),
    );
  });
}

test('a row that a trigger leaves out is an error, never a row under the wrong parent', async () => {
  const objects = '[{word: "a", underDroppedCollection: {create: {}}}, {word: "odd", underDroppedCollection: {create: {}}}, {word: "c"}]';
  const { error } = await run(`mutation { insertIntoDroppedCollection(objects: ${objects}) { affectedCount } }`);
  assert.deepEqual([error?.code, error?.input], ['BAD_USER_INPUT', 'objects']);
  const below = await run(
    'mutation { insertIntoMemberCollection(objects: [{name: "m", droppedCollection: {create: {word: "odd"}}}]) { affectedCount } }',
  );
  assert.deepEqual([below.error?.code, below.error?.input], ['BAD_USER_INPUT', 'objects[0].droppedCollection.create[0]']);
  assert.deepEqual(await database.run('select (select count(*) from dropped) + (select count(*) from member) as count'), [{ count: '0' }]);
});

test('each of many rows refers to the row of its own input, whichever of them have one', async () => {
  const numbers = Array.from({ length: 30 }, (_, index) => index);
  const objects = numbers.map((index) => {
    const droppedCollection = { create: numbers.slice(0, index % 3).map((each) => ({ word: `${index}.${each}` })) };
    return { name: `sparse ${index}`, ...(index % 4 === 1 && { team: { create: { name: `team ${index}` } } }), droppedCollection };
  });
  const inserted = await run(
    'mutation($objects: [MemberInsertInput!]!) { insertIntoMemberCollection(objects: $objects) { affectedCount records { name team { name } droppedCollection { edges { node { word } } } } } }',
    { objects },
  );
  const records = objects.map(({ name, team, droppedCollection }) => ({
    name,
    team: team ? { name: team.create.name } : null,
    droppedCollection: { edges: droppedCollection.create.map(({ word }) => ({ node: { word } })) },
  }));
  assert.deepEqual(inserted, { data: { insertIntoMemberCollection: { affectedCount: 30, records } }, error: undefined });
  const odd = numbers.map((index) => ({ name: `odd ${index}`, droppedCollection: { create: { word: index === 20 ? 'odd' : 'even' } } }));
  const { error } = await run(
    'mutation($objects: [MemberInsertInput!]!) { insertIntoMemberCollection(objects: $objects) { affectedCount } }',
    {
      objects: odd,
    },
  );
  assert.deepEqual([error?.code, error?.input], ['BAD_USER_INPUT', 'objects.droppedCollection.create']);
  await database.run('truncate member, dropped, under_dropped, team');
});

test('objects that give different fields keep their order and their defaults', async () => {
  const given = ['code: "1"', 'public: false', 'code: "3", public: null', 'code: "4"', 'owner: {connect: {id: 2}}'];
  const objects = given.map((fields, index) => `{who: "w${index}", ${fields}}`).join(', ');
  const { error } = await run(
    `mutation { insertIntoOwnerCollection(objects: {name: "mixed", secretCollection: {create: [${objects}]}}) { affectedCount } }`,
  );
  assert.deepEqual([error?.code, error?.input], ['BAD_USER_INPUT', 'objects[0].secretCollection.create[4]']);
  const root = await run(`mutation { insertIntoSecretCollection(objects: [${objects}]) { records { who code public owner { name } } } }`);
  const row = (number: number, code: string | null, isPublic: boolean | null, name?: string) => {
    return { who: `w${number}`, code, public: isPublic, owner: name === undefined ? null : { name } };
  };
  const records = [row(0, '1', true), row(1, null, false), row(2, '3', null), row(3, '4', true), row(4, null, true, 'second')];
  assert.deepEqual(root, { data: { insertIntoSecretCollection: { records } }, error: undefined });
  assert.deepEqual(
    await database.run(`delete from secret where who like 'w_' returning who`),
    records.map(({ who }) => ({ who })),
  );
});

test('many objects that give other columns than their neighbours come back in their order, each with its rows', async () => {
  const objects = Array.from({ length: 30 }, (_, index) => ({
    ...(index % 2 === 1 && { title: `page ${index}` }),
    lineCollection: { create: [{ words: `line ${index}` }] },
  }));
  const { data, error } = await run(
    'mutation($objects: [PageInsertInput!]!) { insertIntoPageCollection(objects: $objects) { records { title lineCollection { edges { node { words } } } } } }',
    { objects },
  );
  assert.equal(error, undefined);
  const records = objects.map(({ title = 'untitled', lineCollection }) => ({
    title,
    lineCollection: { edges: lineCollection.create.map((node) => ({ node })) },
  }));
  assert.deepEqual(data, { insertIntoPageCollection: { records } });
});

test('an error names the input', async () => {
  const upserted = (code: string) => `{create: {who: "anon", code: ${code}}, onConflict: {constraint: secret_code_key, updateColumns: []}}`;
  const failing: Readonly<Record<string, string>> = {
    'insertIntoOne0Collection(objects: [{id: "6a0e3d02-6a0e-4b6b-9c51-0123456789ff"}, {id: "x", many0Collection: {create: {}}}])':
      'objects[1].id',
    'insertIntoMany0Collection(objects: [{word: "a"}, {one: {connect: {id: "x"}}}])': 'objects[1].one.connect.id',
    [`insertIntoMany0Collection(objects: [${'{word: "a", one: {connect: {id: "6a0e3d02-6a0e-4b6b-9c51-0123456789ff"}}}, '.repeat(12)}{one: {connect: {id: "x"}}}])`]:
      'objects[12].one.connect.id',
    'updateMany0Collection(set: {word: "a", one: {update: {set: {id: "y"}}}}, atMost: 100)': 'set.one.update.set.id',
    'updateMany0Collection(set: {one: {connect: {word: "a"}}})': 'undefined',
    'insertIntoMany3Collection(objects: [{one: {create: {id: "1"}}}, {one: {create: {id: "123456"}}}])': 'objects[1].one.create.id',
    'updateMany3Collection(set: {one: {update: {set: {id: "123456"}}}}, atMost: 100)': 'set.one.update.set.id',
    'insertIntoMany3Collection(objects: {one: {connect: {id: null}}})': 'objects[0].one.connect',
    'insertIntoMany3Collection(objects: {one: {connect: {id: "a"}, create: {id: "b"}}})': 'objects[0].one',
    'insertIntoMany3Collection(objects: {oneId: "a", one: {connect: {id: "a"}}})': 'objects[0].oneId',
    'insertIntoOne3Collection(objects: [{id: "a"}, {id: "b", many3Collection: {create: [{word: "c"}, {oneId: "b"}]}}])':
      'objects[1].many3Collection.create[1].oneId',
    'updateTeamCollection(set: {memberCollection: {delete: {filter: {name: {gte: ""}}, atMost: 0}}}, filter: {name: {eq: "one"}})':
      'set.memberCollection.delete',
    'insertIntoTeamCollection(objects: [{memberCollection: {create: {name: "n"}}}])': 'objects[0].name',
    [`insertIntoOwnerCollection(objects: {name: "c", secretCollection: {connectOrCreate: [${upserted('"c"')}, ${upserted('null')}]}})`]:
      'objects[0].secretCollection.connectOrCreate[1].onConflict',
  };
  await database.run(`insert into team(name) values ('one'); insert into member(team_id, name) select max(id), 'one' from team`);
  for (const [field, input] of Object.entries(failing)) {
    const { error } = await run(`mutation { ${field} { affectedCount } }`);
    assert.equal(String(error?.input), input, `${field} ${error?.message}`);
  }
});

test('an update of no rows writes none, and finds none', async () => {
  const none = 'filter: {name: {eq: "nobody"}}';
  const sets = [
    'team: {create: {name: "orphan"}}',
    'team: {connect: {id: 1000000}}',
    'droppedCollection: {create: [{underDroppedCollection: {create: {}}}], connect: [{id: 1000000}], set: [{id: 1000000}]}',
    'name: "x", droppedCollection: {update: {set: {member: {create: {name: "orphan"}}}}}',
  ];
  for (const set of sets) {
    const { data, error } = await run(`mutation { updateMemberCollection(set: {${set}}, ${none}) { affectedCount records { id } } }`);
    assert.equal(error, undefined, set);
    assert.deepEqual(data, { updateMemberCollection: { affectedCount: 0, records: [] } });
  }
  const { data } = await run(`mutation {
    updateTeamCollection(set: {memberCollection: {connect: [{id: 1000000}], set: [{id: 1000000}], update: [{set: {team: {create: {name: "orphan"}}}}]}}, ${none}) { affectedCount }
    updateOwnerCollection(set: {secretCollection: {update: [{set: {owner: {create: {name: "orphan"}}}}]}}, ${none}) { affectedCount }
  }`);
  assert.deepEqual(data, { updateTeamCollection: { affectedCount: 0 }, updateOwnerCollection: { affectedCount: 0 } });
  const orphans = `select name from team where name = 'orphan' union all select name from owner where name = 'orphan' union all select name from member where name = 'orphan'`;
  assert.deepEqual(await database.run(orphans), []);
});

const asAnon = (mutation: string) => run(`mutation { ${mutation} { affectedCount records { id } } }`, undefined, 'anon');
const secrets = () => database.run('select id, owner_id, who, code from secret order by id');

test('a role connects rows that it sees and may update, and no others', async () => {
  const before = await secrets();
  const connect = (code: string) =>
    asAnon(`insertIntoOwnerCollection(objects: {name: "by ${code}", secretCollection: {connect: {code: "${code}"}}})`);
  const [theirs, none] = [await connect('theirs'), await connect('none')];
  assert.deepEqual([theirs.error?.code, theirs.error?.input], ['PERMISSION_DENIED', 'objects[0].secretCollection.connect[0]']);
  assert.deepEqual([none.error?.code, none.error?.input], ['BAD_USER_INPUT', 'objects[0].secretCollection.connect[0]']);
  assert.deepEqual((await connect('missing')).error, none.error);
  assert.deepEqual(await secrets(), before);
  assert.equal((await connect('mine')).error, undefined);
});

test('a record whose update a policy refuses or a trigger drops cannot be connected, and the message names both', async () => {
  const message = 'a policy or a trigger keeps a record from being connected';
  const connect = 'insertIntoOwnerCollection(objects: {name: "keeps", secretCollection: {connect: {code: "CODE"}}})';
  assert.equal((await asAnon(connect.replace('CODE', 'theirs'))).error?.message, message);
  await database.run(`create function keep_kept() returns trigger language plpgsql as $$ begin return case when old.code <> 'kept' then new end; end $$;
    create trigger keep_kept before update on secret for each row execute function keep_kept();
    insert into secret(owner_id, who, code) values (1, 'anon', 'kept')`);
  const dropped = await run(`mutation { ${connect.replace('CODE', 'kept')} { affectedCount } }`);
  await database.run(`drop function keep_kept cascade; delete from secret where code = 'kept'`);
  assert.deepEqual(dropped.error, { code: 'PERMISSION_DENIED', input: 'objects[0].secretCollection.connect[0]', message });
});

test('policies hold for nested inserts, updates, deletes and disconnects', async () => {
  const before = await secrets();
  const update = (members: string) => asAnon(`updateOwnerCollection(set: {secretCollection: {${members}}}, filter: {id: {eq: 1}})`);
  const created = await update('create: [{who: "anon"}, {who: "else"}]');
  assert.deepEqual([created.error?.code, created.error?.input], ['PERMISSION_DENIED', 'set.secretCollection.create']);
  for (const members of ['delete: {atMost: 9}', 'disconnect: {atMost: 9}', 'update: {set: {code: "x"}, atMost: 9}']) {
    assert.equal((await update(members)).error, undefined);
    assert.deepEqual(await secrets(), before);
  }
  const moved = await update('set: [{code: "none"}]');
  assert.deepEqual([moved.error?.code, moved.error?.input], ['BAD_USER_INPUT', 'set.secretCollection.set[0]']);
  const upserted = await update(
    'connectOrCreate: {create: {who: "anon", code: "none"}, onConflict: {constraint: secret_code_key, updateColumns: []}}',
  );
  const keptAway = { code: 'PERMISSION_DENIED', input: 'set.secretCollection.connectOrCreate[0]' };
  assert.deepEqual(upserted.error, { ...keptAway, message: 'a policy or a trigger keeps a record from being connected' });
  assert.deepEqual(await secrets(), before);
});

test('what a role may not write is not in its schema', async () => {
  const { data } = await run(
    '{ insert: __type(name: "GrantedInsertInput") { inputFields { name } } owner: __type(name: "OwnerUpdateInput") { inputFields { name } } many: __type(name: "GrantedUpdateToMany") { inputFields { name } } }',
    undefined,
    'anon',
  );
  const names = (fields: readonly string[]) => ({ inputFields: fields.map((name) => ({ name })) });
  assert.deepEqual(data, {
    insert: names(['word']),
    owner: names(['name', 'secretCollection', 'grantedCollection']),
    many: names(['update']),
  });
});
