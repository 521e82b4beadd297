/** Errors say which field they are of, by path and places, wherever that is known. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { PGlite } from '@electric-sql/pglite';
import { createRowgraph, type GraphQLRequest, type Rowgraph } from '../../src/index.ts';
import { startPglite } from '../support/pglite.ts';
import { grantsSql, rolesSql } from '../support/roles.ts';

const insert = (alias: string, values: string) => `${alias}: insertIntonoteCollection(objects: [${values}]) { affectedCount }`;

describe('the places of errors', () => {
  let database: PGlite;
  let graph: Rowgraph;

  before(async () => {
    database = await startPglite();
    await database.exec(`${rolesSql} ${grantsSql} create table note (id int primary key, text varchar(3)); insert into note values (1, 'a'), (2, 'b');
      create function fail(v int) returns int stable language sql as 'select 1 / (v - v)';
      create table late (id int primary key, note_id int references note deferrable initially deferred, spot inet); insert into late values (50, 1);
      create function broken(n note) returns int stable language plpgsql as $$ begin raise 'broken'; end $$;`);
    graph = await createRowgraph({ database });
  });
  after(async () => {
    await graph.close();
    await database.close();
  });

  /** The first error as `CODE path line:column`. */
  async function place(query: string, more: Omit<GraphQLRequest, 'query'> = {}): Promise<string> {
    const request = { query, ...more };
    const results = [await graph.execute(request, { role: 'service_role' }), await graph.resolve(database, request)];
    const [first, second] = results.map(({ errors }) => {
      const { extensions, path, locations } = errors![0]!;
      return `${extensions.code} ${path?.join('.')} ${locations?.map(({ line, column }) => `${line}:${column}`).join(' ')}`;
    });
    assert.equal(first, second);
    return first ?? '';
  }

  it('names the failing statement of a mutation', async () => {
    const mutation = `mutation {\n  ${insert('a', '{id: 7}')}\n  ${insert('b', '{id: 1}')}\n  ${insert('c', '{id: 8}')}\n}`;
    assert.equal(await place(mutation), 'CONSTRAINT_VIOLATION b 3:3');
    assert.equal(
      await place('mutation { deleteFromnoteCollection(atMost: 1) { affectedCount } }'),
      'TOO_MANY_ROWS deleteFromnoteCollection 1:12',
    );
    assert.equal(await place(`mutation { ...F } fragment F on Mutation {\n${insert('x', '{id: 1}')} }`), 'CONSTRAINT_VIOLATION x 2:1');
  });

  it('names no field where the commit fails', async () => {
    const query = 'mutation { insertIntolateCollection(objects: [{id: 1, note_id: 99}]) { affectedCount } }';
    const { errors } = await graph.execute({ query }, { role: 'service_role' });
    assert.deepEqual([errors?.[0]?.extensions.code, errors?.[0]?.path], ['CONSTRAINT_VIOLATION', undefined]);
  });

  it('names the only field of a query', async () => {
    assert.equal(
      await place('query A { __typename } query B { __typename z: fail(v: 1) }', { operationName: 'B' }),
      'INVALID_VALUE z 1:45',
    );
    assert.equal(await place('{ y: fail(v: 1) z: fail(v: 1) }'), 'INVALID_VALUE undefined undefined');
  });

  it('names the field whose order calls a function that fails, or whose filter has a value that cannot be read', async () => {
    const beside = (field: string) =>
      `{ a: lateCollection { edges { cursor } }\n${field} { edges { cursor } } b: noteCollection { edges { cursor } } }`;
    assert.equal(await place(beside('n: noteCollection(orderBy: [{broken: AscNullsLast}])')), 'RAISED n 2:1');
    assert.equal(await place(beside('n: lateCollection(orderBy: [{note: {broken: AscNullsLast}}])')), 'RAISED n 2:1');
    for (const filter of ['{not: {spot: {eq: "x"}}}', '{and: [{id: {gt: 0}}, {or: [{spot: {eq: "x"}}]}]}']) {
      assert.equal(await place(beside(`n: lateCollection(filter: ${filter})`)), 'INVALID_VALUE n 2:1');
    }
    for (const filter of ['{some: {not: {spot: {eq: "x"}}}}', '{none: {spot: {is: NULL, eq: "x"}}}']) {
      assert.equal(await place(beside(`n: noteCollection(filter: {lateCollection: ${filter}})`)), 'INVALID_VALUE n 2:1');
    }
  });

  it('names the field of what is refused ahead of the database', async () => {
    assert.equal(await place('{ a: __typename\n n: noteCollection(first: 1, last: 1) { edges { cursor } } }'), 'BAD_USER_INPUT n 2:2');
    assert.equal(
      await place('query ($f: Int) { noteCollection(first: $f) { edges { cursor } } }', { variables: { f: -1 } }),
      'BAD_USER_INPUT noteCollection 1:19',
    );
    const long = `mutation ($t: String) { ${insert('a', '{id: 9}')} ${insert('b', '{id: 10, text: $t}')} }`;
    assert.match(await place(long, { variables: { t: 'long' } }), /^BAD_USER_INPUT b 1:/);
  });

  it('names the input of a value that arguments use, and none of one that only a directive uses', async () => {
    const objects = '[{id: 9}, {id: 10, text: $text}]';
    const query = `mutation ($text: String, $on: Boolean!) { a: insertIntonoteCollection(objects: ${objects}) @include(if: $on) { affectedCount } }`;
    const inputOf = async (variables: GraphQLRequest['variables']) => {
      const { errors } = await graph.execute({ query, variables }, { role: 'anon' });
      const { extensions, path } = errors![0]!;
      return [extensions.code, path, extensions.input];
    };
    assert.deepEqual(await inputOf({ text: 7, on: true }), ['BAD_USER_INPUT', ['a'], 'objects[1].text']);
    assert.deepEqual(await inputOf({ text: 'a', on: 'yes' }), ['BAD_USER_INPUT', ['a'], undefined]);
  });

  it('names the argument of what is not a nodeId or cursor', async () => {
    const message = async (query: string, variables = {}) =>
      (await graph.execute({ query, variables }, { role: 'anon' })).errors?.map((error) =>
        [error.message, error.path?.join('.')].join(' | '),
      );
    const advice = 'Pass a value that an earlier response returned.';
    assert.deepEqual(await message('{ x: node(nodeId: "no") { nodeId } }'), [`Invalid nodeId in the argument "nodeId". ${advice} | x`]);
    assert.deepEqual(await message('{ noteCollection(after: "no") { edges { cursor } } }'), [
      `Invalid cursor in the argument "after". ${advice} | noteCollection`,
    ]);
    assert.deepEqual(await message('{ noteCollection(filter: {nodeId: {eq: "no"}}) { edges { cursor } } }'), [
      `Invalid nodeId in the argument "filter". ${advice} | noteCollection`,
    ]);
    const nested = Buffer.from('["public", "note", [1]]').toString('base64');
    const ofList = [`Invalid nodeId in the argument "filter". ${advice} | noteCollection`];
    assert.deepEqual(await message(`{ noteCollection(filter: {nodeId: {eq: "${nested}"}}) { edges { cursor } } }`), ofList);
    const byVariable = 'query ($id: ID) { noteCollection(filter: {nodeId: {eq: $id}}) { edges { cursor } } }';
    assert.deepEqual(await message(byVariable, { id: nested }), ofList);
    assert.deepEqual(await message('query ($id: ID!) { node(nodeId: $id) { nodeId } }', { id: 'no' }), [
      `Invalid nodeId in the variable "$id". ${advice} | node`,
    ]);
  });

  it('refuses cursors and nodeIds with texts that no row can hold', async () => {
    const advice = 'Pass a value that an earlier response returned.';
    const refusal = async (query: string, variables = {}) =>
      (await graph.execute({ query, variables }, { role: 'anon' })).errors?.map(
        ({ message, extensions }) => `${extensions.code} ${message}`,
      );
    const cases: [element: string, collection: string, order: string][] = [
      ['"x\\u0000", 1', 'noteCollection', '{text: AscNullsLast}'],
      ['"\\ud800", 1', 'noteCollection', '{text: AscNullsFirst}'],
      ['"\\u0000"', 'noteCollection', '{id: AscNullsLast}'],
      ['"\\ud800"', 'noteCollection', '{id: DescNullsFirst}'],
      ['"\\u0000", 1', 'lateCollection', '{note: {text: AscNullsLast}}'],
      ['"\\udc00", 1', 'lateCollection', '{note: {id: DescNullsLast}}'],
    ];
    for (const [element, collection, order] of cases) {
      const cursor = Buffer.from(`[${element}]`).toString('base64');
      const page = (argument: string) => `${collection}(${argument}, orderBy: [${order}]) { edges { cursor } }`;
      assert.deepEqual(await refusal(`{ ${page(`after: "${cursor}"`)} }`), [
        `BAD_USER_INPUT Invalid cursor in the argument "after". ${advice}`,
      ]);
      assert.deepEqual(await refusal(`query ($c: Cursor) { ${page('before: $c')} }`, { c: cursor }), [
        `BAD_USER_INPUT Invalid cursor in the variable "$c". ${advice}`,
      ]);
    }
    const nodeId = Buffer.from('["public", "note", "1\\u0000"]').toString('base64');
    assert.deepEqual(await refusal(`{ node(nodeId: "${nodeId}") { nodeId } }`), [
      `BAD_USER_INPUT Invalid nodeId in the argument "nodeId". ${advice}`,
    ]);
    assert.deepEqual(
      await refusal('query ($id: ID) { noteCollection(filter: {nodeId: {eq: $id}}) { edges { cursor } } }', { id: nodeId }),
      [`BAD_USER_INPUT Invalid nodeId in the variable "$id". ${advice}`],
    );
  });
});
