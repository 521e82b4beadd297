/**
 * Types whose schema or operators are out of reach: those of extensions in a schema off the search path are still compared by their own
 * operators, and a role without the privileges reads them and does what it may.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startTestGraph, type TestGraph } from './support/test-graph.ts';

/** Types in a closed schema, and a value of each. */
const keys = {
  mood: 'calm',
  code: '7',
  feeling: 'wild',
  spans: '[1,3)',
  pair: '(1,2)',
  pairs: '(3,4)',
  'mood[]': '{calm,wild}',
  json: '{"a": "b"}',
  numbers: '{1,2}',
};
const keyTypes = Object.entries({
  ...Object.fromEntries(Object.entries(keys).map(([type, value]) => [`closed.${type}`, value])),
  '"My Types".citext': 'Ada',
});
const keyedName = (type: string) => `keyed_${type.replace(/^.*\./, '').replace('[]', 's')}`;
const keyedTable = ([type, value]: [string, string]) => `
  create table ${keyedName(type)} (id ${type} primary key, sure closed.sure default 1, words text, team_id int references team);
  create trigger fill after update on ${keyedName(type)} for each row execute function fill_keyed();
  insert into ${keyedName(type)} values ('${value}', 1, 'a', 1);`;

describe('citext in a schema off the search path', () => {
  let all: TestGraph;

  before(async () => {
    all = await startTestGraph(`
      create schema "My Types"; create extension citext with schema "My Types"; grant usage on schema "My Types" to anon, service_role;
      create domain address as "My Types".citext;
      create table account (email "My Types".citext primary key, name "My Types".citext unique, n int, aliases "My Types".citext[]);
      comment on table account is '@graphql({"aggregate": {"enabled": true}})';
      create table place (code address primary key, n int);
      create table visit (id int primary key, email "My Types".citext references account, place_code address references place);
      insert into account values
        ('Ada@example.org', 'Ada', 1, '{ada,the First}'), ('bob@example.org', 'bob', 2, '{bobby}'), ('Cy@example.org', 'Cy', 3, null);
      insert into place values ('Home', 4);
      create table author (id int primary key);
      create table book (author_id int references author, title "My Types".citext, shelf address);
      comment on table book is '@graphql({"primary_key_columns": ["title"], "aggregate": {"enabled": true}})';
      insert into author select n from generate_series(1, 6) n;
      insert into book select n, (array['a', 'B', 'c', 'D', 'e', 'F'])[n], (array['A', 'b', 'C', 'd', 'E', 'f'])[n] from generate_series(1, 6) n;
      create schema closed; grant usage on schema closed to service_role;
      create type closed.mood as enum ('calm', 'wild'); create domain closed.code as int check (value > 0); create domain closed.feeling as closed.mood; create domain closed.codes as int[];
      create domain reached as closed.mood;
      create type closed.spans as range (subtype = int); create type closed.pair as (a int, b int); create domain closed.pairs as closed.pair;
      create table feeling (id int primary key, mood closed.mood, code closed.code, feeling closed.feeling, spans closed.spans, pairs closed.pairs,
        moods closed.mood[], pair closed.pair, mail "My Types".citext, words text, next_code closed.code, reached reached, codes closed.codes);
      comment on table feeling is '@graphql({"aggregate": {"enabled": true}})';
      insert into feeling values (1, 'calm', 7, 'wild', '[1,3)', '(1,2)', '{calm}', '(3,4)', 'A', 'x', 8), (2, 'wild', 8, null, '[2,3)', null, '{wild,calm}', null, 'b', 'y', null);
      create table coded (code closed.code primary key, words text); create table user_of (id int primary key, code closed.code references coded, n int); insert into coded values (1, 'x'), (2, 'y'), (3, 'z');
      -- Keys that the role cannot name, beside a column that must not be null.
      create domain closed.json as jsonb; create domain closed.numbers as int[]; create domain closed.sure as int not null;
      create table team (id int primary key, name text);
      insert into team values (1, 'first');
      create function fill_keyed() returns trigger language plpgsql as $$ begin update team set name = new.words where id = new.team_id; return null; end $$;
      ${keyTypes.map((type) => keyedTable(type)).join('')}
      create table mixed (mood closed.mood, code closed.code, n int default 3, words text, team_id int references team, primary key (mood, code, n));
      insert into mixed values ('calm', 7, 1, 'a', 1), ('wild', 7, 1, 'b', 1);
      create table made (id closed.code primary key default 5, words text, team_id int references team);
      create table mooded (id int primary key, mood closed.mood not null default 'calm' references keyed_mood);
      insert into mooded values (1, 'calm'), (2, 'calm'), (3, 'calm');
      create function coded_as(code closed.code) returns text stable language sql as 'select words from coded where coded.code = $1';
      create schema ops; grant usage on schema ops to anon, authenticated, service_role;
      create extension intarray with schema ops; create extension hstore with schema ops; create extension ltree with schema ops;
      create table tagged (id int primary key, ints int[], path ops.ltree, attrs ops.hstore, n int);
      insert into tagged values (1, '{1,2}', 'a.b', 'a=>1', 5), (2, '{null,3}', 'a', 'b=>2', 5), (3, null, 'b', null, 4);
      revoke execute on all functions in schema ops from public; grant execute on all functions in schema ops to service_role;
      insert into visit values (1, 'ADA@example.org', 'HOME'), (2, 'ada@EXAMPLE.org', 'home'), (3, 'cy@example.org', null);
    `);
  });
  after(() => all.stop());

  const names = async (filter: string): Promise<unknown> => {
    const data = (await all.ask(`{ accountCollection(filter: ${filter}, orderBy: [{n: AscNullsLast}]) { edges { node { name } } } }`)) as {
      accountCollection: { edges: { node: { name: string } }[] };
    };
    return data.accountCollection.edges.map(({ node }) => node.name);
  };

  test('filters', async () => {
    assert.deepEqual(await names('{email: {eq: "ADA@EXAMPLE.ORG"}}'), ['Ada']);
    assert.deepEqual(await names('{name: {in: ["BOB", "CY"]}}'), ['bob', 'Cy']);
    assert.deepEqual(await names('{name: {gt: "ADA"}}'), ['bob', 'Cy']);
    assert.deepEqual(await names('{name: {like: "B%"}}'), ['bob']);
    assert.deepEqual(await names('{name: {ilike: "%Y"}}'), ['Cy']);
    assert.deepEqual(await names('{name: {regex: "^C"}}'), ['Cy']);
    assert.deepEqual(await names('{name: {startsWith: "B"}}'), ['bob']);
    assert.deepEqual(await names('{name: {startsWith: "%"}}'), []);
    assert.deepEqual(await names('{aliases: {contains: ["ADA"]}}'), ['Ada']);
    assert.deepEqual(await names('{aliases: {overlaps: ["x", "THE FIRST"]}}'), ['Ada']);
    assert.deepEqual(await names('{aliases: {eq: ["Bobby"]}}'), ['bob']);
    assert.deepEqual(await names('{visitCollection: {some: {place_code: {eq: "hOME"}}}}'), ['Ada']);
    assert.deepEqual(await names('{visitCollection: {some: {id: {eq: 2}}}}'), ['Ada']);
  });

  test('relations', async () => {
    const query = '{ visitCollection { edges { node { account { n } place { n visitCollection { edges { node { id } } } } } } } }';
    const home = { n: 4, visitCollection: { edges: [{ node: { id: 1 } }, { node: { id: 2 } }] } };
    assert.deepEqual(await all.ask(query), {
      visitCollection: {
        edges: [
          { node: { account: { n: 1 }, place: home } },
          { node: { account: { n: 1 }, place: home } },
          { node: { account: { n: 3 }, place: null } },
        ],
      },
    });
  });

  test('keys, pages and extremes', async () => {
    const { accountByPk } = (await all.ask('{ accountByPk(email: "ADA@example.org") { n } }')) as { accountByPk: unknown };
    assert.deepEqual(accountByPk, { n: 1 });
    const first = '{ accountCollection(first: 1, orderBy: [{name: AscNullsLast}]) { edges { cursor node { nodeId n } } } }';
    const { accountCollection } = (await all.ask(first)) as {
      accountCollection: { edges: [{ cursor: string; node: { nodeId: string; n: number } }] };
    };
    const [{ cursor, node }] = accountCollection.edges;
    assert.equal(node.n, 1);
    assert.deepEqual(await all.ask(`{ node(nodeId: "${node.nodeId}") { ... on account { n } } }`), { node: { n: 1 } });
    const next = `{ accountCollection(after: "${cursor}", orderBy: [{name: AscNullsLast}]) { edges { node { n } } aggregate { max { name } min { name } } } }`;
    assert.deepEqual(await all.ask(next), {
      accountCollection: { edges: [{ node: { n: 2 } }, { node: { n: 3 } }], aggregate: { max: { name: 'Cy' }, min: { name: 'Ada' } } },
    });
  });

  test('orders and their pages by the values of related rows, and groups', async () => {
    const authors = async (order: string): Promise<number[]> => {
      const found: number[] = [];
      for (let after = ''; ; ) {
        const { authorCollection } = (await all.ask(
          `{ authorCollection(first: 2${after}, orderBy: [${order}]) { edges { node { id } } pageInfo { endCursor hasNextPage } } }`,
        )) as { authorCollection: { edges: { node: { id: number } }[]; pageInfo: { endCursor: string; hasNextPage: boolean } } };
        found.push(...authorCollection.edges.map(({ node }) => node.id));
        if (!authorCollection.pageInfo.hasNextPage) return found;
        after = `, after: "${authorCollection.pageInfo.endCursor}"`;
      }
    };
    assert.deepEqual(await authors('{bookCollection: {min: {title: AscNullsLast}}}'), [1, 2, 3, 4, 5, 6]);
    assert.deepEqual(await authors('{bookCollection: {max: {title: DescNullsLast}}}'), [6, 5, 4, 3, 2, 1]);
    const groups =
      '{ bookCollection { groups(by: [{shelf: VALUE}], having: {max: {title: {gte: "d", startsWith: "E"}}}) { key { shelf } max { title } } } }';
    assert.deepEqual(await all.ask(groups), { bookCollection: { groups: [{ key: { shelf: 'E' }, max: { title: 'e' } }] } });
  });

  test('writes', async () => {
    const upsert = `mutation { insertIntoaccountCollection(
      objects: [{email: "BOB@example.org", name: "Rob", n: 9}], onConflict: {constraint: account_pkey, updateColumns: [n], filter: {name: {eq: "BOB"}}}
    ) { records { email n } } }`;
    assert.deepEqual(await all.ask(upsert), { insertIntoaccountCollection: { records: [{ email: 'bob@example.org', n: 9 }] } });
    const connect =
      'mutation { insertIntovisitCollection(objects: [{id: 4, account: {connect: {email: "CY@EXAMPLE.ORG"}}}]) { records { account { n } } } }';
    assert.deepEqual(await all.ask(connect), { insertIntovisitCollection: { records: [{ account: { n: 3 } }] } });
  });

  test('a role without access to the schema has no such relation, and the doctor says what it lacks', async () => {
    const sdl = await all.graph.sdl({ role: 'authenticated' });
    assert.match(sdl, /type visit implements/);
    assert.doesNotMatch(sdl, /account: account|visitCollection\(.*\n?.*\): visitConnection!/);
    const { findings } = await all.graph.doctor({ role: 'authenticated' });
    const relations = findings.filter(({ code, object }) => code === 'not-granted' && object === 'relation');
    assert.deepEqual(
      relations.map(({ name, remedy }) => [name, remedy]),
      [
        ['public.visit.visit_email_fkey', 'grant usage on schema "My Types" to authenticated;'],
        ['public.visit.visit_place_code_fkey', 'grant usage on schema "My Types" to authenticated;'],
      ],
    );
    assert.match(relations[0]!.message, /cannot use the schema My Types, which has the operators that compare/);
  });

  test('a type in a schema that the role cannot use is read, filtered and ordered by, but not written', async () => {
    const rows = async (argument: string, role: string): Promise<unknown> => {
      const { feelingCollection } = (await all.ask(`{ feelingCollection${argument} { edges { node { id } } } }`, role)) as {
        feelingCollection: { edges: { node: { id: number } }[] };
      };
      return feelingCollection.edges.map(({ node }) => node.id);
    };
    for (const role of ['service_role', 'authenticated']) {
      const read = '{ feelingCollection(first: 1) { edges { node { mood code feeling spans moods } } } }';
      const node = { mood: 'calm', code: 7, feeling: 'wild', spans: '[1,3)', moods: ['calm'] };
      assert.deepEqual(await all.ask(read, role), { feelingCollection: { edges: [{ node }] } });
      assert.deepEqual(await rows('(filter: {mood: {eq: "wild"}})', role), [2]);
      assert.deepEqual(await rows('(filter: {moods: {contains: ["wild"], any: {eq: "calm"}}})', role), [2]);
      assert.deepEqual(await rows('(filter: {code: {eq: 7}, spans: {eq: "[1,3)"}})', role), [1]);
      if (role === 'authenticated')
        assert.deepEqual(await rows('(filter: {moods: {contains: ["calm"], any: {eq: "calm"}, length: {eq: 1}}})', role), [1]);
      assert.deepEqual(await rows('(orderBy: [{mood: DescNullsLast}, {code: AscNullsLast}])', role), [2, 1]);
      const page = '{ codedCollection(first: 1, orderBy: [{code: DescNullsLast}]) { edges { cursor node { nodeId } } } }';
      const { codedCollection } = (await all.ask(page, role)) as {
        codedCollection: { edges: [{ cursor: string; node: { nodeId: string } }] };
      };
      const [{ cursor, node: first }] = codedCollection.edges;
      const next = `{ codedCollection(after: "${cursor}", orderBy: [{code: DescNullsLast}]) { edges { node { words } } } node(nodeId: "${first.nodeId}") { ... on coded { words } } }`;
      assert.deepEqual(await all.ask(next, role), {
        codedCollection: { edges: [{ node: { words: 'y' } }, { node: { words: 'x' } }] },
        node: { words: 'z' },
      });
      assert.deepEqual(await all.ask('{ coded_as(code: 2) }', role), { coded_as: 'y' });
      const same =
        'query ($v: Opaque) { feelingCollection(filter: {or: [{code: {eq: $v}}, {next_code: {eq: $v}}]}) { edges { node { id } } } }';
      const { data } = await all.graph.execute({ query: same, variables: { v: 8 } }, { role });
      assert.deepEqual(data, { feelingCollection: { edges: [{ node: { id: 1 } }, { node: { id: 2 } }] } });
    }
    const update = 'mutation { updatefeelingCollection(set: {words: "z"}, filter: {code: {eq: 8}}, atMost: 1) { records { words mood } } }';
    assert.deepEqual(await all.ask(update, 'authenticated'), { updatefeelingCollection: { records: [{ words: 'z', mood: 'wild' }] } });
    const sdl = await all.graph.sdl({ role: 'authenticated' });
    assert.match(await all.graph.sdl({ role: 'service_role' }), /input feelingOrderBy \{[^}]* codes:/);
    const inputs = (type: string) =>
      sdl
        .match(new RegExp(`input ${type} \\{\\n([^}]*)\\}`))![1]!
        .match(/^ {2}\w+(?=:)/gm)!
        .map((name) => name.trim());
    assert.deepEqual(inputs('feelingInsertInput'), ['id', 'words']);
    assert.deepEqual(inputs('feelingUpdateInput'), ['id', 'words']);
    assert.deepEqual(inputs('feelingFilter').slice(0, 7), ['id', 'mood', 'code', 'spans', 'moods', 'words', 'next_code']);
    assert.deepEqual(inputs('feelingOrderBy'), ['id', 'mood', 'code', 'spans', 'words', 'next_code']);
    assert.deepEqual(inputs('codedInsertInput'), ['words']);
    assert.deepEqual(inputs('user_ofUpdateInput'), ['id', 'n']);
    assert.deepEqual(inputs('codedUpdateInput'), ['words']);
    const users = 'mutation { insertIntouser_ofCollection(objects: [{id: 1, n: 2}]) { records { coded { words } } } }';
    assert.deepEqual(await all.ask(users, 'authenticated'), { insertIntouser_ofCollection: { records: [{ coded: null }] } });
    const { findings } = await all.graph.doctor({ role: 'authenticated' });
    const told = findings.filter(({ code, name }) => code === 'type-out-of-reach' && name.startsWith('public.feeling.'));
    assert.deepEqual(
      told.map(({ name, remedy }) => `${name.slice('public.feeling.'.length)}: ${remedy}`),
      [
        ...['code', 'codes', 'feeling'].map((name) => `${name}: grant usage on schema closed to authenticated;`),
        'mail: grant usage on schema "My Types" to authenticated;',
        ...['mood', 'moods', 'next_code', 'pair', 'pairs', 'reached', 'spans'].map(
          (name) => `${name}: grant usage on schema closed to authenticated;`,
        ),
      ],
    );
    assert.match(
      told[4]!.message,
      /cannot use the schema closed of its type closed\.mood, so it can be read but is left out of inserts and updates/,
    );
    assert.match(told[2]!.message, /left out of inserts, updates, filters, orders, groups and keys/);
  });

  test('the response of a write is read by keys, and by foreign keys, whose types the role cannot name', async () => {
    const ask = async (query: string) => Object.values((await all.ask(`mutation { ${query} }`, 'authenticated')) as object)[0];
    for (const table of keyTypes.map(([type]) => keyedName(type))) {
      const rows = `${table}Collection { edges { node { words } } }`;
      assert.deepEqual(await ask(`update${table}Collection(set: {words: "${table}"}) { records { words team { name ${rows} } } }`), {
        records: [{ words: table, team: { name: table, [`${table}Collection`]: { edges: [{ node: { words: table } }] } } }],
      });
    }
    assert.deepEqual(
      await ask(
        'insertIntomadeCollection(objects: [{words: "x", team_id: 1}]) { records { words team { madeCollection { edges { node { id } } } } } }',
      ),
      {
        records: [{ words: 'x', team: { madeCollection: { edges: [{ node: { id: 5 } }] } } }],
      },
    );
    const mixed =
      'updatemixedCollection(set: {team_id: 1}, increment: {n: 1}, atMost: 2) { edges(orderBy: [{team: {id: AscNullsLast}}, {mood: DescNullsLast}]) { node { words n team { id } } } }';
    const node = { n: 2, team: { id: 1 } };
    assert.deepEqual(await ask(mixed), { edges: [{ node: { words: 'b', ...node } }, { node: { words: 'a', ...node } }] });
    assert.deepEqual(
      await ask(
        'updatekeyed_moodCollection(set: {words: "w"}, filter: {id: {eq: "calm"}}) { records { moodedCollection { edges { node { id } } } } }',
      ),
      {
        records: [{ moodedCollection: { edges: [1, 2, 3].map((id) => ({ node: { id } })) } }],
      },
    );
    assert.deepEqual(
      await ask(
        'deleteFrommoodedCollection(filter: {id: {gt: 1}}, atMost: 2) { records { id keyed_mood { words moodedCollection { edges { node { id } } } } } }',
      ),
      {
        records: [2, 3].map((id) => ({ id, keyed_mood: { words: 'w', moodedCollection: { edges: [{ node: { id: 1 } }] } } })),
      },
    );
    for (const table of keyTypes.map(([type]) => keyedName(type)).slice(1)) {
      const deleted = `deleteFrom${table}Collection { records { words team { ${table}Collection { edges { cursor } } } } edges(orderBy: [{team: {id: AscNullsLast}}]) { cursor } }`;
      const { records, edges } = (await ask(deleted)) as { records: unknown; edges: unknown[] };
      assert.deepEqual([records, edges.length], [[{ words: table, team: { [`${table}Collection`]: { edges: [] } } }], 1]);
    }
  });

  test('operators of extensions that the role cannot execute: arrays are compared by the built-in ones, other types not at all', async () => {
    const rows = async (argument: string, role: string): Promise<unknown> => {
      const { taggedCollection } = (await all.ask(`{ taggedCollection${argument} { edges { node { id } } } }`, role)) as {
        taggedCollection: { edges: { node: { id: number } }[] };
      };
      return taggedCollection.edges.map(({ node }) => node.id);
    };
    assert.deepEqual(await rows('(filter: {ints: {contains: [3]}})', 'authenticated'), [2]);
    assert.deepEqual(await rows('(filter: {ints: {overlaps: [2, 3]}})', 'authenticated'), [1, 2]);
    assert.deepEqual(await rows('(filter: {ints: {containedBy: [1, 2, 3]}})', 'authenticated'), [1]);
    assert.deepEqual(await rows('(filter: {path: {eq: "a.b"}, attrs: {eq: "a=>1"}})', 'service_role'), [1]);
    assert.deepEqual(await rows('(orderBy: [{n: AscNullsLast}, {path: DescNullsLast}])', 'service_role'), [3, 1, 2]);
    assert.deepEqual(await rows('(orderBy: [{n: AscNullsLast}])', 'authenticated'), [3, 1, 2]);
    const sdl = await all.graph.sdl({ role: 'authenticated' });
    assert.match(sdl, /input taggedOrderBy \{\n {2}id: OrderByDirection\n {2}n: OrderByDirection\n\}/);
    assert.doesNotMatch(sdl, /input taggedFilter \{[^}]*(path|attrs):/);
    const insert = 'mutation { insertIntotaggedCollection(objects: [{id: 9, path: "c", attrs: "k=>v"}]) { records { path attrs } } }';
    assert.deepEqual(await all.ask(insert, 'authenticated'), {
      insertIntotaggedCollection: { records: [{ path: 'c', attrs: { k: 'v' } }] },
    });
    const { findings } = await all.graph.doctor({ role: 'authenticated' });
    assert.deepEqual(
      findings.filter(({ code, name }) => code === 'type-out-of-reach' && name.startsWith('public.tagged')).map(({ message }) => message),
      ['hstore', 'ltree'].map(
        (type) =>
          `the role authenticated cannot execute the functions of the operators of its type ops.${type}, so it is left out of filters, orders, groups and keys; grant execute on all functions in schema ops to the role`,
      ),
    );
  });
});
