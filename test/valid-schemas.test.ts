/**
 * Schemas of roles with few privileges on tables of unusual columns: no type is without fields or values, and none refers to a missing
 * type.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { buildSchema, validateSchema } from 'graphql';
import { createRowgraph, type Rowgraph, type RowgraphOptions } from '../src/index.ts';
import { startTestGraph, type TestGraph } from './support/test-graph.ts';
import { unusedTypes } from './support/unused-types.ts';

const columnTypes =
  'int,text,boolean,timestamptz,numeric,json,point,int[],kind,kind[],odd_kind,odd_kind[],hidden.secret,pair,pair[],domain_list,domain_pair,domain_kind,other,other[],int4range,xml,tsvector,int2vector,regclass'.split(
    ',',
  );
const names = ['value', '__value', 'wrong name', 'nodeId', 'and', 'key', 'fraction', 'bucket', 'count'];
const grants = ['select', 'insert', 'update', 'select insert', 'select update', 'insert update', 'select insert update', ''];

const everything = '@graphql({"totalCount": {"enabled": true}, "aggregate": {"enabled": true}})';

/**
 * For each type, a table with another key, one whose key has the type if possible, one without a key, and a function that returns its row.
 */
function tables(): string {
  return columnTypes
    .map((type, index) => {
      const name = names[index % names.length];
      return `
        create table keyed_${index} (id int primary key generated always as identity, "${name}" ${type});
        create table only_${index} ("${name}" ${type});
        create table ref_${index} (other_id int references other, "${name}" ${type}, unique (other_id));
        comment on table only_${index} is '@graphql({"primary_key_columns": ["${name}"], "aggregate": {"enabled": true}})';
        comment on table keyed_${index} is '${everything}';
        create table keyless_${index} ("${name}" ${type});
        create function of_${index}(other) returns keyless_${index} language sql stable as 'select null::keyless_${index}';
        create function give_${index}(a int) returns keyless_${index} language sql stable as 'select null::keyless_${index}';`;
    })
    .join('\n');
}

/** The privileges of a role on the columns of a table are those of the next role on the columns of the previous table. */
function roles(): string {
  return grants
    .map((_, role) => {
      const each = columnTypes.map((_type, index) => {
        const column = names[index % names.length];
        const given = grants[(role + index) % grants.length]!.split(' ').filter((grant) => grant !== '');
        const on = (table: string, columns: string) =>
          given.map((grant) => `grant ${grant} (${columns}) on ${table}_${index} to role_${role};`).join(' ');
        const keys =
          role % 2 === 0 ? `grant select, delete on keyed_${index} to role_${role}; grant select on keyless_${index} to role_${role};` : '';
        return [
          on('keyed', `"${column}"`),
          on('only', `"${column}"`),
          on('ref', `other_id, "${column}"`),
          on('keyless', `"${column}"`),
          keys,
        ].join(' ');
      });
      return `create role role_${role}; grant role_${role} to authenticator; grant usage on schema public to role_${role}; ${each.join('\n')} ${role === 3 ? '' : `grant select on other to role_${role};`}`;
    })
    .join('\n');
}

let started: TestGraph;
let graphs: readonly Rowgraph[] = [];

before(async () => {
  started = await startTestGraph(`
    create schema hidden;
    create type kind as enum ('a', 'b');
    create type odd_kind as enum ('1', '2 3');
    create type hidden.secret as enum ('a');
    create type pair as (a int, b text);
    create domain domain_list as int[];
    create domain domain_pair as pair;
    create domain domain_kind as kind;
    create table other (id int primary key, name text);
    create domain row_of_other as other;
    create function _known(other) returns row_of_other language sql stable as 'select $1';
    ${tables()} ${roles()}`);
  const database = started.database.url;
  const others: RowgraphOptions[] = [
    { database, requiredInputs: true, nodeIdField: 'id' },
    { database, dialect: 'pg_graphql' },
  ];
  graphs = [started.graph, ...(await Promise.all(others.map((options) => createRowgraph(options))))];
});
after(async () => {
  for (const graph of graphs.slice(1)) await graph.close();
  await started.stop();
});

for (const role of [...grants.keys()].map((number) => `role_${number}`).concat('service_role', 'anon')) {
  test(`the schema of ${role} is valid`, async () => {
    for (const graph of graphs) {
      const problems = validateSchema(buildSchema(await graph.sdl({ role }))).map(({ message }) => message);
      // Names of columns may begin with two underscores, as in pg_graphql.
      assert.deepEqual(
        problems.filter((message) => !message.includes('must not begin with "__"')),
        [],
      );
    }
  });

  test(`something leads to each type of additions in the schema of ${role}`, async () => {
    const [all, others, reference] = await Promise.all(graphs.map(async (graph) => buildSchema(await graph.sdl({ role }))));
    for (const schema of [all!, others!]) assert.deepEqual(unusedTypes(schema, reference!), []);
  });
}

test('a function that returns rows without fields is left out, with the reason', async () => {
  const { findings } = await started.graph.doctor({ role: 'service_role' });
  const index = columnTypes.indexOf('pair');
  const found = findings.find(({ name }) => name === `public.of_${index}(other)` || name === `public.of_${index}(public.other)`);
  assert.match(String(found?.message), /it returns rows of public\.keyless_13, which is not in the API; see the finding for that table/);
  assert.ok(findings.some(({ name, message }) => name === `public.keyless_${index}` && /it has no primary key/.test(message)));
});
