/**
 * Errors inside nested fields have the path and the locations of these fields, if everything known of the error rules out all other fields.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createRowgraph, type Rowgraph } from '../src/index.ts';
import { startPglite } from './support/pglite.ts';
import { grantsSql, rolesSql } from './support/roles.ts';
import { startTestDatabases } from './support/test-databases.ts';

const schema = `
  comment on schema public is '@graphql({"additions": {"adaptedNames": false}})';
  create table author (id int primary key, name varchar(5), token uuid);
  create table book (id int primary key, author_id int references author, title text, words tsvector, language regconfig);
  create table secret (id int primary key, author_id int references author); alter table secret enable row level security;
  insert into author values (1, 'a'), (2147483647, 'b'); insert into book values (1, 1, 'x'), (2, 1, 'y'); insert into secret values (1, 1);
  create function broken(a author) returns int stable language plpgsql as $$ begin raise exception 'no'; end $$;
  create function fine(a author) returns int stable language plpgsql as $$ begin return 1; end $$;
  create function inlined(a author) returns int stable language sql as 'select 1 / (a.id - a.id)';
  create function denied(a author) returns int stable language plpgsql as $$ begin raise insufficient_privilege; end $$;
  create function fail(v int) returns int stable language plpgsql as $$ begin return 1 / (v - v); end $$;
  create function other(v int) returns int stable language plpgsql as $$ begin return v; end $$;
  create function odd_argument(v int, "no good" int) returns int stable language sql as 'select 1';
  create function few(v int) returns setof book stable language plpgsql as $$ begin perform 1 / (v - v); end $$;
  create policy broken_policy on secret using (fail(id) > 0);
  create view odd as select id, fail(id) as bad from author;
  comment on view odd is '@graphql({"primary_key_columns": ["id"]})';
  comment on table author is '@graphql({"aggregate": {"enabled": true}})';
`;

const nodeIdOf = (...parts: unknown[]) => Buffer.from(JSON.stringify(parts)).toString('base64');
const quoted = (text: string) => JSON.stringify(text);

/** A nested collection with arguments. With `second` also selected, an error cannot be attributed to the only root field. */
const nested = (args: string, variables = '') =>
  `query ${variables} {\n x: authorCollection { edges { node {\n books: bookCollection(${args}) { edges { node { id } } } } } }\n second: bookCollection { edges { cursor } } }`;
const inBooks = 'x.edges.node.books 3:2';
const rows = (selection: string, more = '') => `{ x: bookCollection { edges { node { author {\n ${selection} } } } } ${more} }`;
const second = 'second: bookCollection { edges { cursor } }';

/** A request, and the code, path and locations of its error. */
const cases: readonly (readonly [name: string, query: string, expected: string, variables?: Record<string, unknown>])[] = [
  // Found before the database.
  ['a cursor that is none', nested('after: "no"'), `BAD_USER_INPUT ${inBooks}`],
  ['a cursor with a list', nested(`after: ${quoted(nodeIdOf([1]))}`), `BAD_USER_INPUT ${inBooks}`],
  [
    'a nodeId with an object',
    nested(`filter: {nodeId: {eq: ${quoted(nodeIdOf('public', 'book', { a: 1 }))}}}`),
    `BAD_USER_INPUT ${inBooks}`,
  ],
  ['a function that requires an argument without a legal name', `{ x: odd_argument(v: 1) ${second} }`, 'BAD_USER_INPUT x 1:3'],
  ['a cursor of another order', nested(`before: ${quoted(nodeIdOf(1, 2))}`), `BAD_USER_INPUT ${inBooks}`],
  [
    'a literal of another type',
    `{ x: authorCollection(filter: {token: {eq: 5}}) { edges { cursor } } ${second} }`,
    'GRAPHQL_VALIDATION_FAILED undefined 1:44',
  ],
  ['a negative page size', nested('first: -1'), `BAD_USER_INPUT ${inBooks}`],
  ['arguments that exclude each other', nested('first: 1, last: 1'), `BAD_USER_INPUT ${inBooks}`],
  ['an order of two keys', nested('orderBy: [{id: AscNullsLast, title: AscNullsLast}]'), `BAD_USER_INPUT ${inBooks}`],
  ['a nodeId that is none', nested('filter: {nodeId: {eq: "no"}}'), `BAD_USER_INPUT ${inBooks}`],
  [
    'a nodeId that is none, as the default of a variable',
    nested('filter: {nodeId: {eq: $id}}', '($id: ID = "no")'),
    `BAD_USER_INPUT ${inBooks}`,
  ],
  ['a cursor that is none, as the default of a variable', nested('after: $c', '($c: Cursor = "no")'), `BAD_USER_INPUT ${inBooks}`],
  ['a nodeId of another table', nested(`filter: {nodeId: {eq: ${quoted(nodeIdOf('public', 'author', 1))}}}`), `BAD_USER_INPUT ${inBooks}`],
  [
    'a text that is too long',
    `{ x: authorCollection(filter: {name: {eq: "toolong"}}) { edges { cursor } } ${second} }`,
    'BAD_USER_INPUT x 1:3',
  ],
  // Groups and percentiles.
  [
    'a group by nothing',
    `{ x: authorCollection { aggregate { count }\n g: groups(by: []) { count } } ${second} }`,
    'BAD_USER_INPUT x.g 2:2',
  ],
  [
    'a width of a bucket in a variable',
    `query ($w: Int) { x: authorCollection { aggregate { count }\n g: groups(by: [{bucket: {id: $w}}]) { count } } ${second} }`,
    'BAD_USER_INPUT x.g 2:2',
    { w: 0 },
  ],
  [
    'a fraction in a variable',
    `query ($f: Float!) { x: authorCollection { aggregate { count\n p: percentile(fraction: $f) { id } } } ${second} }`,
    'BAD_USER_INPUT x.aggregate.p 2:2',
    { f: 1.5 },
  ],
  [
    'a condition on groups that cannot be read',
    `{ x: authorCollection { aggregate { count }\n g: groups(by: [{id: VALUE}], having: {sum: {id: {gt: "much"}}}) { count } } ${second} }`,
    'INVALID_VALUE x.g 2:2',
  ],
  // Variables.
  ['a cursor in a variable', nested('after: $c', '($c: Cursor)'), `BAD_USER_INPUT ${inBooks}`, { c: 'no' }],
  ['a page size in a variable', nested('first: $f', '($f: Int)'), `BAD_USER_INPUT ${inBooks}`, { f: -1 }],
  ['a variable of another type', nested('first: $f', '($f: Int)'), `BAD_USER_INPUT ${inBooks}`, { f: 'x' }],
  ['a variable that is missing', nested('first: $f', '($f: Int!)'), `BAD_USER_INPUT ${inBooks}`, {}],
  [
    'a variable that a fragment uses',
    `query ($f: Int) { x: authorCollection { edges { node { ...F } } } ${second} }\nfragment F on author { bookCollection(first: $f) { edges { cursor } } }`,
    'BAD_USER_INPUT x.edges.node.bookCollection 2:24',
    { f: true },
  ],
  [
    'a variable of two nested fields',
    'query ($f: Int) { x: authorCollection { edges { node { a: bookCollection(first: $f) { edges { cursor } } b: bookCollection(last: $f) { edges { cursor } } } } } }',
    'BAD_USER_INPUT x.edges.node 1:56 1:106',
    { f: 'x' },
  ],
  [
    'a variable of two root fields',
    'query ($f: Int) { a: bookCollection(first: $f) { edges { cursor } } b: bookCollection(last: $f) { edges { cursor } } }',
    'BAD_USER_INPUT undefined 1:19 1:69',
    { f: 'x' },
  ],
  [
    'a page size of two nested fields',
    'query ($f: Int) { x: authorCollection { edges { node { a: bookCollection(first: $f) { edges { cursor } } b: bookCollection(first: $f) { edges { cursor } } } } } }',
    'BAD_USER_INPUT x.edges.node 1:49',
    { f: -1 },
  ],
  [
    'a condition',
    'query ($k: Boolean! = true) { x: authorCollection { edges @skip(if: $k) { cursor } } }',
    'BAD_USER_INPUT x.edges 1:53',
    { k: null },
  ],
  // Values that PostgreSQL cannot read.
  ['a cursor of another type', nested(`after: ${quoted(nodeIdOf('x'))}`), `INVALID_VALUE ${inBooks}`],
  ['a cursor of another type in a variable', nested('after: $c', '($c: Cursor)'), `INVALID_VALUE ${inBooks}`, { c: nodeIdOf('x') }],
  [
    'a nodeId with a key of another type',
    nested(`filter: {nodeId: {eq: ${quoted(nodeIdOf('public', 'book', 'x'))}}}`),
    `INVALID_VALUE ${inBooks}`,
  ],
  ['a value with a syntax error', nested('filter: {words: {eq: "\'"}}'), `INVALID_VALUE ${inBooks}`],
  ['a name of nothing', nested('filter: {language: {eq: $o}}', '($o: Opaque)'), `INVALID_VALUE ${inBooks}`, { o: 'none' }],
  ['a value of another type', `{ x: authorCollection(filter: {token: {eq: "no"}}) { edges { cursor } } ${second} }`, 'INVALID_VALUE x 1:3'],
  [
    'a value of two fields',
    'query ($t: UUID) { x: authorCollection(filter: {token: {eq: $t}}) { edges { cursor } } y: authorCollection(filter: {token: {neq: $t}}) { edges { cursor } } }',
    'INVALID_VALUE undefined undefined',
    { t: 'no' },
  ],
  ['a regular expression', nested('filter: {title: {regex: "("}}'), `INVALID_VALUE ${inBooks}`],
  ['a regular expression in a variable', nested('filter: {title: {iregex: $s}}', '($s: String)'), `INVALID_VALUE ${inBooks}`, { s: '(' }],
  ['a pattern', nested('filter: {title: {like: $s}}', '($s: String)'), `INVALID_VALUE ${inBooks}`, { s: '\\' }],
  // Functions.
  ['a computed field', rows('a: broken fine inlined', second), 'RAISED x.edges.node.author 1:38'],
  ['a computed field beside others in PL/pgSQL', rows('fine a: broken', second), 'RAISED x.edges.node.author.a 2:7'],
  ['a computed field that occurs twice', rows('a: broken b: broken', second), 'RAISED x.edges.node.author 1:38'],
  ['a computed field that is inlined', rows('fine a: inlined', second), 'INVALID_VALUE x.edges.node.author.a 2:7'],
  ['a computed field that may not read', rows('fine a: denied', second), 'PERMISSION_DENIED x.edges.node.author.a 2:7'],
  ['a function', '{ a: fail(v: 1) b: other(v: 1) }', 'INVALID_VALUE a 1:3'],
  ['a function that yields rows', '{ a: few(v: 1) { edges { node { id } } } b: other(v: 1) }', 'INVALID_VALUE a 1:3'],
  [
    'a computed field of a mutation',
    'mutation { a: insertIntoauthorCollection(objects: [{id: 9}]) { records { broken } } }',
    'RAISED a.records.broken 1:74',
  ],
  // Functions that the plan does not show.
  ['a function beside a view', '{ a: fail(v: 1) b: oddCollection { edges { node { bad } } } }', 'INVALID_VALUE undefined undefined'],
  ['a view alone', `{ b: oddCollection { edges { node { bad } } } ${second} }`, 'INVALID_VALUE b 1:3'],
];

/** A graph over a database with the schema, and a function that closes both. */
async function open(kind: 'PGlite' | 'PostgreSQL'): Promise<{ readonly graph: Rowgraph; readonly close: () => Promise<void> }> {
  if (kind === 'PGlite') {
    const database = await startPglite();
    await database.exec(`${rolesSql} ${grantsSql} ${schema}`);
    return { graph: await createRowgraph({ database }), close: () => database.close() };
  }
  const databases = await startTestDatabases();
  const { url } = await databases.create(schema);
  return { graph: await createRowgraph({ database: url }), close: () => databases.close() };
}

for (const kind of ['PGlite', 'PostgreSQL'] as const)
  describe(`errors inside nested fields on ${kind}`, () => {
    let graph: Rowgraph;
    let close: () => Promise<void>;

    before(async () => {
      ({ graph, close } = await open(kind));
    });
    after(async () => {
      await graph.close();
      await close();
    });

    /** The first error as `CODE path line:column`. */
    async function place(query: string, variables: Record<string, unknown> | undefined, role = 'service_role'): Promise<string> {
      const { errors } = await graph.execute({ query, variables }, { role });
      const { extensions, path, locations } = errors![0]!;
      return `${extensions.code} ${path?.join('.')} ${locations?.map(({ line, column }) => `${line}:${column}`).join(' ')}`;
    }

    for (const [name, query, expected, variables] of cases) {
      it(`have their path and locations: ${name}`, async () => {
        assert.equal(await place(query, variables), expected);
        // The second time, documents and statements come from caches.
        assert.equal(await place(query, variables), expected);
      });
    }

    it('do not blame a function that a policy may have called', async () => {
      const query = `{ a: authorCollection { edges { node { secretCollection { edges { cursor } } } } } b: fail(v: 1) }`;
      assert.equal(await place(query, {}, 'anon'), 'INVALID_VALUE undefined undefined');
      assert.equal(
        await place(`{ a: authorCollection { edges { node { secretCollection { edges { cursor } } } } } ${second} }`, {}, 'anon'),
        'INVALID_VALUE a.edges.node.secretCollection 1:40',
      );
    });

    it('name the argument of an invalid cursor or nodeId', async () => {
      const message = async (query: string) => (await graph.execute({ query }, { role: 'service_role' })).errors?.[0]?.message;
      assert.match(
        (await message(`{ node(nodeId: ${quoted(nodeIdOf('public', 'none', 1))}) { nodeId } }`))!,
        /nodeId in the argument "nodeId"/,
      );
      assert.match((await message(nested(`before: ${quoted(nodeIdOf(1, 2))}`)))!, /cursor in the argument "before"/);
      const other = `filter: {nodeId: {eq: ${quoted(nodeIdOf('public', 'author', 1))}}}`;
      assert.match((await message(nested(other)))!, /nodeId in the argument "filter"/);
    });
  });
