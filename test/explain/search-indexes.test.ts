/**
 * Searches use GIN indexes: on a column of type tsvector, on the same expression as that of a directive, alone and with other indexes.
 * Distances of texts and points use GiST indexes.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { adviceOf, indexesOf, type PlannedGraph, startPlannedGraph } from '../support/planned-graph.ts';

const schemaSql = `
create table author (id int primary key, name text);
insert into author select i, 'a' || i from generate_series(1, 100) i;
create table note (id int primary key, author_id int references author, kind int, body text, words tsvector);
insert into note select i, i % 100 + 1, i % 700, 'n' || i % 1000, to_tsvector('english', 'number w' || i % 1000) from generate_series(1, 20000) i;
create index note_words on note using gin (words);
create index note_author on note (author_id);
create table story (id int primary key, headline varchar(80), body text);
comment on table story is '@graphql({"search": {"columns": {"headline": "A", "body": "B"}, "config": "english"}})';
insert into story select i, 'headline h' || i % 1000, 'body b' || i % 1000 from generate_series(1, 20000) i;
create index story_words on story using gin ((
  setweight(to_tsvector('english', coalesce(headline::text, '')), 'A') || setweight(to_tsvector('english', coalesce(body::text, '')), 'B')
));
create table memo (id int primary key, body text);
comment on table memo is '@graphql({"search": {"columns": ["body"]}})';
insert into memo select i, 'body b' || i % 1000 from generate_series(1, 20000) i;
create index memo_words on memo using gin (to_tsvector('simple', coalesce(body::text, '')));
create extension pg_trgm;
create table shop (id int primary key, name varchar(40));
comment on table shop is '@graphql({"search": {"columns": ["name"]}})';
insert into shop select i, md5(i::text) from generate_series(1, 20000) i;
create index shop_name on shop using gin (name gin_trgm_ops);
create table town (id int primary key, name text, at point, area int);
insert into town select i, md5(i::text), point(i % 100, i / 100), i from generate_series(1, 12000) i;
create index town_name on town using gist (name gist_trgm_ops);
create index town_at on town using gist (at);
create table village (id int primary key, name varchar(40), at point);
insert into village select id, name, at from town;
create table tale (id int primary key, body text);
insert into tale select id, body from memo;
create table loose (id int primary key, "the Title" varchar(80), body text);
comment on table loose is '@graphql({"search": {"columns": {"the Title": "A", "body": "D"}, "config": "english"}})';
create table slow (id int primary key, body text, words tsvector);
create table own (id int primary key, words tsvector);
insert into own select id, words from note;
create index own_words on own using gin (words);
alter table own enable row level security;
create policy positive on own using (id > 0);
grant all on all tables in schema public to anon;
`;

let graph: PlannedGraph;
before(async () => {
  graph = await startPlannedGraph(schemaSql);
});
after(() => graph?.stop());

const ids = '{ edges { node { id } } }';
const found: Readonly<Record<string, readonly [index: string, query: string]>> = {
  'the argument, on a vector': ['note_words', `{ noteCollection(search: {text: "w7"}) ${ids} }`],
  'each mode': ['note_words', `{ noteCollection(search: {text: "w77", mode: PREFIX}) ${ids} }`],
  'a phrase': ['note_words', `{ noteCollection(search: {text: "number w7", mode: PHRASE}) ${ids} }`],
  'in the order of ranks': ['note_words', `{ noteCollection(search: {text: "w7"}, orderBy: [{searchRank: DescNullsLast}]) ${ids} }`],
  'a filter': ['note_words', `{ noteCollection(filter: {search: {text: "w7"}}) ${ids} }`],
  'a filter beside another': ['note_words', `{ noteCollection(search: {text: "w7"}, filter: {kind: {eq: 7}}) ${ids} }`],
  'a filter in or': ['note_words', `{ noteCollection(filter: {or: [{search: {text: "w7"}}, {id: {eq: 3}}]}) ${ids} }`],
  'related rows': ['note_words', `{ authorCollection(filter: {noteCollection: {some: {search: {text: "w7"}}}}) ${ids} }`],
  'texts that are similar in a part': ['shop_name', `{ shopCollection(search: {text: "a87ff679a2f3e71d", mode: SIMILAR}) ${ids} }`],
  'texts that are similar': ['shop_name', `{ shopCollection(filter: {name: {similarTo: "a87ff679a2f3e71d"}}) ${ids} }`],
  'texts that contain one': ['shop_name', `{ shopCollection(filter: {name: {containsText: "a87ff679a2f3e71d9181a67b"}}) ${ids} }`],
  'the distances of texts': ['town_name', `{ townCollection(nearest: {name: {to: "a87ff679a2f3e71d"}}, first: 5) ${ids} }`],
  'the distances of parts': ['town_name', `{ townCollection(nearest: {name: {to: "a87ff", metric: WORD_SIMILARITY}}, first: 5) ${ids} }`],
  'the distances of points': ['town_at', `{ townCollection(nearest: {at: {to: [50, 5]}}, filter: {area: {gt: 9}}, first: 5) ${ids} }`],
  'an expression of columns': ['story_words', `{ storyCollection(search: {text: "h7"}) ${ids} }`],
  'an expression of one column': ['memo_words', `{ memoCollection(search: {text: "b7"}) ${ids} }`],
};

for (const [name, [index, query]] of Object.entries(found)) {
  test(name, async () => {
    const used = indexesOf(await graph.explain(query));
    assert.ok(used.includes(index), JSON.stringify(used));
  });
}

test('a variable', async () => {
  const query = `query($s: SearchInput) { noteCollection(search: $s) ${ids} }`;
  assert.deepEqual(indexesOf(await graph.explain(query, { s: { text: 'w7' } })), ['note_words']);
});

test('with an index of another column, both', async () => {
  const query = `{ authorByPk(id: 7) { noteCollection(search: {text: "number"}) ${ids} } }`;
  assert.ok(indexesOf(await graph.explain(query)).includes('note_author'));
});

test('none under row level security, as the page says, because the operator is not leakproof', async () => {
  assert.deepEqual(indexesOf(await graph.explain(`{ ownCollection(search: {text: "w7"}) ${ids} }`)).includes('own_words'), false);
});

const unmeasured: Readonly<Record<string, readonly [query: string, sql: string]>> = {
  'distances of texts': [
    `{ villageCollection(nearest: {name: {to: "x"}}, first: 1) ${ids} }`,
    'create index concurrently on public.village using gist (name public.gist_trgm_ops);',
  ],
  'distances of points': [
    `{ villageCollection(nearest: {at: {to: [1, 2]}}, first: 1) ${ids} }`,
    'create index concurrently on public.village using gist (at);',
  ],
};

for (const [name, [query, sql]] of Object.entries(unmeasured)) {
  test(`advice for ${name}, until there is an index that serves`, async () => {
    const findings = async () => {
      const report = await graph.graph.doctor({ role: 'anon' });
      return report.findings.filter(
        (each) => ['unindexed-distance', 'unindexed-similarity'].includes(each.code) && each.name.startsWith('public.village'),
      );
    };
    const before = await findings();
    assert.deepEqual(adviceOf(await graph.explain(query), 'missing-index'), [sql]);
    assert.ok(before.some(({ remedy, message }) => `${remedy} ${message}`.includes(sql.replace('concurrently ', ''))));
    await graph.database.run(sql);
    await graph.graph.reload();
    const explanation = await graph.explain(query);
    assert.deepEqual([adviceOf(explanation, 'missing-index'), indexesOf(explanation).length], [[], 1]);
    assert.equal((await findings()).length, before.length - 1);
  });
}

const unfound: Readonly<Record<string, string>> = {
  'a text that is similar': `{ memoCollection(filter: {body: {similarTo: "bodi"}}) ${ids} }`,
  'a text that contains another, in or': `{ storyCollection(filter: {or: [{headline: {containsText: "line h77"}}, {id: {eq: 3}}]}) ${ids} }`,
};

for (const [name, query] of Object.entries(unfound)) {
  test(`advice for ${name}, until there is an index of trigrams`, async () => {
    const [sql, ...others] = adviceOf(await graph.explain(query), 'unindexed-search');
    assert.match(sql ?? '', /^create index concurrently on public\.(memo using gin \(body|story using gin \(headline) gin_trgm_ops\);$/);
    assert.deepEqual(others, []);
    await graph.database.run(sql!);
    assert.deepEqual(adviceOf(await graph.explain(query), 'unindexed-search'), []);
  });
}

const patterns: Readonly<Record<string, readonly [filter: string, column?: string]>> = {
  'the middle of a text': ['like: "%b777%"', 'body'],
  'any case': ['ilike: "BODY B777"', 'body'],
  'an end': ['endsWith: "y b777"', 'body'],
  'a page that is soon full': ['like: "%b7%"'],
  'a short part': ['like: "%77"'],
  'a start, which a B-tree finds': ['like: "body b77%"'],
  'what most texts have': ['ilike: "%body%"'],
};

for (const [name, [filter, column]] of Object.entries(patterns)) {
  test(`advice for a pattern: ${name}`, async () => {
    const query = `{ taleCollection(filter: {body: {${filter}}}) ${ids} }`;
    const trigrams = () =>
      graph.explain(query).then((explained) => adviceOf(explained, 'missing-index').filter((sql) => sql.includes('gin')));
    const expected = column === undefined ? [] : [`create index concurrently on public.tale using gin (${column} gin_trgm_ops);`];
    assert.deepEqual(await trigrams(), expected);
    if (column === undefined) return;
    await graph.database.run(expected[0]!);
    const after = await graph.explain(query);
    assert.deepEqual([adviceOf(after, 'missing-index'), indexesOf(after)], [[], ['tale_body_idx']]);
    await graph.database.run('drop index tale_body_idx');
  });
}

const unserved: Readonly<Record<string, readonly [query: string, ...sql: string[]]>> = {
  'a vector': [`{ slowCollection(search: {text: "w7"}) ${ids} }`, 'create index concurrently on public.slow using gin (words);'],
  'an expression of columns': [
    `{ looseCollection(filter: {search: {text: "w7"}}) ${ids} }`,
    `create index concurrently on public.loose using gin ((setweight(to_tsvector('english', coalesce("the Title"::text, '')), 'A') || to_tsvector('english', coalesce(body::text, ''))));`,
  ],
  'texts that are similar': [
    `{ slowCollection(search: {text: "w7", mode: SIMILAR}) ${ids} }`,
    'create index concurrently on public.slow using gin (body gin_trgm_ops);',
  ],
};

for (const [name, [query, ...sql]] of Object.entries(unserved)) {
  test(`advice for ${name}, until there is an index`, async () => {
    const searches = async () => adviceOf(await graph.explain(query), 'unindexed-search');
    const found = (await graph.graph.doctor({ role: 'anon' })).findings.filter(({ code }) => code === 'unindexed-search');
    assert.deepEqual(await searches(), sql);
    for (const statement of sql) await graph.database.run(statement);
    assert.deepEqual(await searches(), []);
    if (name === 'texts that are similar') return;
    const remedy = sql[0]!.replace(' concurrently', '');
    assert.ok(
      found.some((each) => each.remedy === remedy),
      JSON.stringify(found),
    );
    const left = (await graph.graph.doctor({ role: 'anon' })).findings.filter(({ code }) => code === 'unindexed-search');
    assert.equal(left.length, found.length - 1);
  });
}

test('no finding for tables with an index', async () => {
  const { findings } = await graph.graph.doctor({ role: 'anon' });
  const names = findings.flatMap(({ code, name }) => (code === 'unindexed-search' ? [name] : []));
  // The index of shop is one of trigrams.
  assert.deepEqual(names, ['public.shop']);
});
