/** Pages in the order of ranks have each row once, whatever the text; no text makes a search fail; who may not read a text cannot search it. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { buildSchema, type GraphQLObjectType } from 'graphql';
import { startTestGraph, type TestGraph } from '../support/test-graph.ts';

const schemaSql = `
create extension pg_trgm;
create table note (id int primary key, title text, body text, words tsvector generated always as (
  setweight(to_tsvector('english', title), 'A') || to_tsvector('english', body)
) stored);
insert into note select i, 'cat ' || repeat('dog ', i % 4), repeat('cat and dog ', i % 3) || '<b>&"''' || i from generate_series(1, 60) i;
create table story (id int primary key, title text, body text);
comment on table story is '@graphql({"search": {"columns": {"title": "A", "body": "B"}}})';
insert into story select id, title, body from note;
revoke all on story from anon;
grant select (id, title) on story to anon;
`;

let graph: TestGraph;
before(async () => {
  graph = await startTestGraph(schemaSql, { limits: 'default' });
});
after(() => graph?.stop());

const role = 'service_role';

interface Page {
  readonly edges: readonly { readonly cursor: string; readonly node: { readonly id: number; readonly searchRank: number | null } }[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly hasPreviousPage: boolean };
}

async function readPage(table: string, page: string, variables: object): Promise<Page> {
  const query = `query($s: SearchInput, $at: Cursor) { ${table}Collection(search: $s, ${page}) {
    edges { cursor node { id searchRank } } pageInfo { hasNextPage hasPreviousPage }
  } }`;
  const { data, errors } = await graph.graph.execute({ query, variables: { ...variables } }, { role });
  assert.equal(errors, undefined);
  return (data as Record<string, Page>)[`${table}Collection`]!;
}

const orders = ['{searchRank: DescNullsLast}', '{searchRank: AscNullsFirst}', '{title: AscNullsLast}, {searchRank: DescNullsLast}'];
const searches = [
  { text: 'cat' },
  { text: 'dog or cat -bird' },
  { text: 'do', mode: 'PREFIX' },
  { text: 'cat dog', mode: 'PHRASE' },
  { text: 'catt', mode: 'SIMILAR' },
];

for (const table of ['note', 'story']) {
  for (const s of searches) {
    test(`pages of ${table} for ${JSON.stringify(s)}`, async () => {
      for (const order of orders) {
        const whole = (await readPage(table, `first: 30, after: $at, orderBy: [${order}]`, { s })).edges.map(({ node }) => node.id);
        const forward: number[] = [];
        for (let at: string | null = null, more = true; more; ) {
          const { edges, pageInfo } = await readPage(table, `first: 7, after: $at, orderBy: [${order}]`, { s, at });
          forward.push(...edges.map(({ node }) => node.id));
          more = pageInfo.hasNextPage;
          at = edges.at(-1)?.cursor ?? null;
        }
        assert.deepEqual(forward.slice(0, 30), whole);
        assert.equal(new Set(forward).size, forward.length);
        const backward: number[] = [];
        for (let at: string | null = null, more = true; more; ) {
          const { edges, pageInfo } = await readPage(table, `last: 11, before: $at, orderBy: [${order}]`, { s, at });
          backward.unshift(...edges.map(({ node }) => node.id));
          more = pageInfo.hasPreviousPage;
          at = edges[0]?.cursor ?? null;
        }
        assert.deepEqual(backward, forward);
      }
    });
  }
}

/** Numbers from 0 to below `below`, always the same ones. */
function* numbers(seed: number): Generator<(below: number) => number, never> {
  let state = seed;
  while (true) {
    yield (below) => {
      state = (state * 1103515245 + 12345) % 2147483648;
      return Math.floor((state / 2147483648) * below);
    };
  }
}

test('no text makes a search or a snippet fail', async () => {
  const next = numbers(7).next().value;
  const parts = [...'cat|&!()<->:*"\'\\%_-,.@#$€äß漢字 \n\t\u0001\u0002\u0000\ud800'.matchAll(/./gsu)].map(([part]) => part);
  const words = [...parts, 'cat', ' or ', ' -', '<->', ':A', ':*', '<2>', 'http://a.b/c?d=e', 'a@b.c', '1e9', "''", 'the'];
  const query = `query($t: String!) { ${['WEBSEARCH', 'PLAIN', 'PHRASE', 'PREFIX', 'SIMILAR']
    .flatMap((mode) =>
      ['note', 'story'].map(
        (table) => `${table}${mode}: ${table}Collection(search: {text: $t, mode: ${mode}}, first: 2,
        orderBy: [{searchRank: DescNullsLast}]) { edges { cursor node { searchRank searchSnippet(column: body, start: $t, words: 9) } } }`,
      ),
    )
    .join('\n')} }`;
  for (let run = 0; run < 150; run += 1) {
    const t = Array.from({ length: 1 + next(12) }, () => words[next(words.length)]).join('');
    const { errors } = await graph.graph.execute({ query, variables: { t } }, { role });
    assert.equal(errors, undefined, JSON.stringify([t, errors]));
  }
});

test('a text may have as many characters as the limit says', async () => {
  const query = 'query($t: String!) { noteCollection(search: {text: $t, mode: PREFIX}, first: 1) { edges { node { id } } } }';
  const run = (length: number) =>
    graph.graph.execute({ query, variables: { t: 'cat '.repeat(length).slice(0, length) } }, { role: 'authenticated' });
  assert.equal((await run(1000)).errors, undefined);
  const [error] = (await run(1001)).errors ?? [];
  assert.deepEqual(
    [error?.message, error?.extensions?.code],
    [
      'The text of the search has 1,001 characters; the limit is 1,000. Send a smaller request, or ask for a higher limit.',
      'INPUT_TOO_LARGE',
    ],
  );
});

test('texts that the role may not select are not searched', async () => {
  const argumentsOf = async (name: string) => {
    const fields = buildSchema(await graph.graph.sdl({ role: name }))
      .getQueryType()!
      .getFields();
    return fields.storyCollection!.args.map((argument) => argument.name).includes('search');
  };
  assert.deepEqual([await argumentsOf('anon'), await argumentsOf(role)], [false, true]);
  const story = buildSchema(await graph.graph.sdl({ role: 'anon' })).getType('story') as GraphQLObjectType;
  assert.equal(story.getFields().searchRank, undefined);
});
