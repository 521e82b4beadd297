/**
 * Types of extensions in a schema that is neither exposed nor on the search path: their values are still compared by their own operators.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startTestGraph, type TestGraph } from './support/test-graph.ts';

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
});
