/**
 * Rows by keys of every kind of type: a walk with cursors sees each row once in both directions, in PostgreSQL's order, and each row is found by its nodeId. So do
 * orders by columns of these types, with nulls and ties.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type PgliteGraph, startPgliteGraph } from './support/pglite-graph.ts';

/** Values of a type, as SQL literals. */
const keys: Readonly<Record<string, readonly [type: string, ...values: string[]]>> = {
  list: ['int[]', '{}', '{1,2}', '{1,NULL}', '{{1,2},{3,4}}', '[2:3]={1,2}'],
  list_of_texts: ['text[]', '{}', '{"a,b","c\\"d"}', '{NULL,"NULL"}'],
  list_of_enums: ['mood[]', '{}', '{calm,"not calm"}'],
  jsonb: ['jsonb', '{"a": 1}', '"x"', 'null', '[1]', '1', 'true'],
  domain_of_jsonb: ['json_domain', '{"a": 1}', '"x"', 'null'],
  domain_of_enum: ['mood_domain', 'calm', 'not calm', 'wild'],
  domain_of_that: ['mood_domain_too', 'calm', 'wild'],
  domain_of_times: ['time_domain', 'infinity', '2020-01-01', '0044-03-15 BC'],
  domain_of_floats: ['float_domain', 'NaN', '-0', '5e-324'],
  enum: ['mood', 'calm', 'not calm', 'null', 'true', '__x'],
  range: ['int4range', 'empty', '[1,3)', '(,)'],
  multirange: ['int4multirange', '{}', '{[1,3),[5,7)}'],
  interval: ['interval', '1 day', '24 hours 1 second', '-1 mon'],
  bytes: ['bytea', '\\x', '\\x00ff'],
  money: ['money', '1234.5', '-3'],
  vector: ['tsvector', 'a b', ''],
  char: ['"char"', 'a', '', 'Z'],
  composite: ['pair', '(1,a)', '(1,)', '(,"b, ""c""")', '(2,NULL)'],
  composite_of_composites: ['pair_of_pairs', '("(1,a)","{""(2,b)""}")', '("(1,a)",)', '(,"{NULL}")'],
  domain_of_composite: ['pair_domain', '(1,a)', '(1,)', '(2,b)'],
  list_of_composites: ['pair[]', '{}', '{"(1,a)",NULL}', '{"(1,b)"}'],
  row: ['parent', '(1,a)', '(2,)', '(,"x y")'],
  list_of_rows: ['parent[]', '{}', '{"(1,a)","(2,b)"}', '[0:0]={"(1,a)"}'],
  domain_of_list: ['list_domain', '{1,2}', '[2:3]={1,2}', '{}', '{-1}', '{NULL}', '{{1,2}}'],
  domain_of_texts: ['texts_domain', '{1,2}', '{"a,b","c\\"d"}', '{2020-01-01}', '{NULL,"NULL"}'],
  domain_of_that_list: ['list_domain_too', '{1,2}', '{3}'],
  domain_of_enums: ['moods_domain', '{calm}', '{calm,"not calm"}', '{}'],
  oidvector: ['oidvector', '', '1 2', '3'],
  time_zone: ['timetz', '10:00+02', '10:00+01', '24:00:00-15:59'],
  lsn: ['pg_lsn', '0/0', '16/B374D848'],
  bits: ['varbit', '', '0', '00', '1'],
  network: ['inet', '10.0.0.1', '10.0.0.0/8', '::1'],
  class: ['regclass', 'pg_class', 'pg_type', '-'],
  numeric: ['numeric', 'NaN', '-Infinity', '1.50', '123456789012345678901234567890.1'],
  padded: ['char(3)', 'a', 'b  ', ''],
  hstore: ['hstore', '', 'a=>1', 'a=>NULL,"b c"=>2'],
  domain_of_hstore: ['hstore_domain', '', 'a=>1', 'a=>NULL,"b c"=>2'],
  citext: ['citext', 'a', 'B', ''],
  path: ['ltree', '', 'a', 'a.b'],
};

const setup = `
  create extension hstore; create extension citext; create extension ltree;
  create type pair as (x int, y text); create type pair_of_pairs as (one pair, more pair[]); create domain pair_domain as pair; create domain hstore_domain as hstore;
  create table parent (id int primary key, name text);
  create domain list_domain as int[]; create domain texts_domain as text[]; create domain list_domain_too as list_domain;
  create type mood as enum ('calm', 'not calm', 'wild', 'null', 'true', '__x');
  create domain json_domain as jsonb; create domain mood_domain as mood; create domain mood_domain_too as mood_domain;
  create domain moods_domain as mood[];
  create domain time_domain as timestamptz; create domain float_domain as float8;
  ${Object.entries(keys)
    .map(([name, [type, ...values]]) => {
      const literals = values.map((value, n) => `(${literal(value)}, ${n})`);
      return `create table by_${name} (key ${type} primary key, n int not null); insert into by_${name} values ${literals.join(', ')};
        create table ordered_${name} (id int primary key, value ${type});
        insert into ordered_${name} select n, key from by_${name} union all select n + 10, key from by_${name};
        insert into ordered_${name} values (20, null), (21, null);`;
    })
    .join('\n')}
`;

function literal(value: string): string {
  return `'${value.replaceAll("'", "''")}'`;
}

interface Page {
  readonly edges: readonly { readonly cursor: string; readonly node: { readonly mark: number; readonly nodeId: string } }[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly hasPreviousPage: boolean };
}

let all: PgliteGraph;
before(async () => {
  all = await startPgliteGraph(setup);
});
after(() => all.stop());

async function page(collection: string, args: string, mark: string): Promise<Page> {
  const query = `{ page: ${collection}(${args}) { edges { cursor node { mark: ${mark} nodeId } } pageInfo { hasNextPage hasPreviousPage } } }`;
  return ((await all.ask(query)) as { readonly page: Page }).page;
}

/** The marks of all rows, by pages of a size. */
async function walk(collection: string, order: string, mark: string, direction: 'forward' | 'backward', size: number): Promise<number[]> {
  const isForward = direction === 'forward';
  const seen: number[] = [];
  let from = '';
  for (;;) {
    const args = `${isForward ? 'first' : 'last'}: ${size} ${order}${from}`;
    const { edges, pageInfo } = await page(collection, args, mark);
    const marks = edges.map(({ node }) => node.mark);
    if (isForward) seen.push(...marks);
    else seen.unshift(...marks);
    if (!(isForward ? pageInfo.hasNextPage : pageInfo.hasPreviousPage)) return seen;
    assert.ok(edges.length > 0);
    from = isForward ? ` after: "${edges.at(-1)?.cursor}"` : ` before: "${edges[0]?.cursor}"`;
  }
}

async function marksOf(sql: string): Promise<unknown[]> {
  return (await all.pglite.query<{ readonly mark: number }>(sql)).rows.map(({ mark }) => mark);
}

describe('a key', () => {
  for (const [name, [type]] of Object.entries(keys)) {
    test(`of type ${type} (${name})`, async () => {
      const expected = await marksOf(`select n as mark from by_${name} order by key`);
      for (const direction of ['forward', 'backward'] as const)
        for (const size of [1, 2]) assert.deepEqual(await walk(`by_${name}Collection`, '', 'n', direction, size), expected);
      const { edges } = await page(`by_${name}Collection`, 'first: 30', 'n');
      for (const { node } of edges) {
        const { nodeId, mark } = node;
        const query = `{ node(nodeId: "${nodeId}") { ... on by_${name} { n } } page: by_${name}Collection(filter: {nodeId: {eq: "${nodeId}"}}) { edges { node { n } } } }`;
        assert.deepEqual(await all.ask(query), { node: { n: mark }, page: { edges: [{ node: { n: mark } }] } });
      }
    });
  }
});

/** Lists, JSON and composite types that are no table's have no order in the API. */
const notOrderable = new Set(['jsonb', 'composite', 'composite_of_composites']);
const orderable = Object.entries(keys).filter(([name, [type]]) => !notOrderable.has(name) && !type.endsWith('[]'));

describe('an order', () => {
  for (const [name, [type]] of orderable) {
    test(`by a column of type ${type} (${name})`, async () => {
      for (const [direction, sql] of [
        ['AscNullsFirst', 'asc nulls first'],
        ['DescNullsLast', 'desc nulls last'],
      ]) {
        const expected = await marksOf(`select id as mark from ordered_${name} order by value ${sql}, id`);
        const order = `orderBy: [{value: ${direction}}]`;
        assert.deepEqual(await walk(`ordered_${name}Collection`, order, 'id', 'forward', 3), expected);
        assert.deepEqual(await walk(`ordered_${name}Collection`, order, 'id', 'backward', 3), expected);
      }
    });
  }
});

test('values of a domain over an enum are compared', async () => {
  const query = '{ page: by_domain_of_enumCollection(filter: {key: {eq: "not calm"}}) { edges { node { n } } } }';
  assert.deepEqual(await all.ask(query), { page: { edges: [{ node: { n: 1 } }] } });
  const { errors } = await all.graph.execute({ query: query.replace('not calm', 'furious') }, { role: 'service_role' });
  assert.deepEqual([errors?.[0]?.extensions.code, errors?.[0]?.extensions.sqlstate], ['INVALID_VALUE', '22P02']);
});

test('every label of an enum that GraphQL cannot name may come in a variable', async () => {
  const query = 'query ($label: mood) { page: by_enumCollection(filter: {key: {eq: $label}}) { edges { node { n } } } }';
  for (const [n, label] of keys.enum!.slice(1).entries()) {
    const { data } = await all.graph.execute({ query, variables: { label } }, { role: 'service_role' });
    assert.deepEqual(data, { page: { edges: [{ node: { n } }] } }, label);
  }
});
