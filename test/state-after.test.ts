/** The response of a mutation shows the state after it: related rows, computed fields, orders, and what `query` reads. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { type PgliteGraph, startPgliteGraph } from './support/pglite-graph.ts';

let started: PgliteGraph;

const tables = ['article', 'likes', 'person', 'task', 'step', 'event', 'badge', 'club', 'membership', 'counter', 'node', 'tag'];

before(async () => {
  started = await startPgliteGraph(`
    comment on schema public is '@graphql({"inflect_names": true})';
    create table article (id int primary key generated always as identity, title text not null, like_count int not null default 0);
    create schema closed; create type closed.mood as enum ('glad');
    create table likes (id int primary key generated always as identity, article_id int references article on update cascade on delete cascade,
      who text unique, mood closed.mood default 'glad');
    comment on table likes is '@graphql({"totalCount": {"enabled": true}})';
    comment on table article is '@graphql({"totalCount": {"enabled": true}})';
    create function likes_for_article(article) returns int stable language sql as 'select count(*)::int from likes where article_id = $1.id';
    create function count_likes() returns trigger language plpgsql as $$ begin
      update article set like_count = (select count(*) from likes where article_id = article.id); return null; end $$;
    create trigger count_likes after insert or delete on likes for each statement execute function count_likes();

    create table person (id int primary key, name text collate "C" not null, boss_id int references person on update cascade on delete set null);

    -- A trigger that changes the key, one that changes the row behind the write, and one that refuses it.
    create table task (id int primary key, name text, state text not null default 'new');
    create table step (id int primary key, task_id int references task on update cascade on delete restrict, name text);
    create function shift() returns trigger language plpgsql as $$ begin new.id = new.id + 1000; return new; end $$;
    create trigger shift before insert on task for each row when (new.name = 'shifted') execute function shift();
    create function finish() returns trigger language plpgsql as $$ begin update task set state = 'done' where id = new.task_id; return null; end $$;
    create trigger finish after insert on step for each row execute function finish();
    create function restate() returns trigger language plpgsql as $$ begin update task set state = 'restated' where id = new.id and state = 'odd'; return null; end $$;
    create trigger restate after update on task for each row execute function restate();
    create function skip() returns trigger language plpgsql as $$ begin return null; end $$;
    create trigger skip before insert on task for each row when (new.name = 'skipped') execute function skip();
    create function broken(step) returns int stable language plpgsql as $$ begin return 1 / (select count(*)::int - 1 from step where id = $1.id); end $$;

    -- Rows through views, one of which has a trigger and no key of its own.
    create table event (id int primary key generated always as identity, name text, seen boolean not null default true);
    create function rename_event() returns trigger language plpgsql as $$ begin
      update event set name = 'renamed' where id = new.id and name = 'odd'; return null; end $$;
    create trigger rename_event after insert or update on event for each row execute function rename_event();
    create view seen_event as select id, name from event where seen and name <> 'gone';
    create function add_event() returns trigger language plpgsql as $$ begin
      insert into event (name) values (new.name) returning id into new.id; return new; end $$;
    create view any_event as select id, name from event;
    create trigger add_event instead of insert on any_event for each row execute function add_event();
    create table badge (id int primary key, event_id int references event, label text);
    comment on view any_event is '@graphql({"primary_key_columns": ["id"], "foreign_keys": [{"local_name": "anyEvents", "local_columns": ["id"],
      "foreign_name": "sameNumber", "foreign_schema": "public", "foreign_table": "badge", "foreign_columns": ["id"]}]})';
    create function shown_badges(any_event) returns int stable language sql as 'select count(*)::int from badge where event_id = $1.id';

    -- A table without a primary key, whose declared key is unique.
    create table tag (code text not null unique, name text, article_id int references article);
    comment on table tag is '@graphql({"primary_key_columns": ["code"]})';
    create function rename_tag() returns trigger language plpgsql as $$ begin
      update tag set name = 'renamed' where code = new.code and name = 'odd'; return null; end $$;
    create trigger rename_tag after insert on tag for each row execute function rename_tag();

    -- Rows that show only as long as others do.
    create table club (name text primary key, motto text);
    create table membership (id int primary key, club_name text not null references club, who text not null, active boolean not null default true);
    create function sees(club text) returns boolean stable language sql security definer as
      'select exists (select from membership as m where m.club_name = $1 and m.who = current_setting(''role'') and m.active)';
    alter table club enable row level security;
    create policy club on club using (sees(name));
    alter table membership enable row level security;
    create policy club on membership using (sees(club_name));
    create function size_of_club(membership) returns int stable language sql as 'select count(*)::int from membership where club_name = $1.club_name';
    create table node (id int primary key, parent_id int not null references node, name text);

    create domain amount as int not null;
    create table counter (id int primary key, total amount default 0, article_id int references article);
    create function like_article(article_id int, who text) returns article language plpgsql as $$ declare found article; begin
      insert into likes (article_id, who) values (like_article.article_id, like_article.who);
      select * into found from article where id = like_article.article_id; return found; end $$;
    create function like_all(who text) returns setof article language plpgsql as $$ begin
      insert into likes (article_id, who) select a.id, like_all.who || a.id from article as a;
      return query select * from article order by id desc; end $$;
    create function no_counter() returns counter language plpgsql as 'begin return null; end';
    create function count_up(by int) returns int language sql as
      'insert into counter values (1, $1) on conflict (id) do update set total = counter.total + $1 returning total';`);
});
after(() => started.stop());
beforeEach(async () => {
  await started.pglite.exec(`truncate ${tables.join(', ')} restart identity;
    insert into article (title) values ('one'), ('two');
    insert into person values (1, 'Ada', 1), (2, 'Bo', 1), (3, 'Cy', 2);
    insert into task values (1, 'a'), (2, 'b');
    insert into event (name, seen) values ('first', true), ('second', true);
    insert into badge values (1, 1, 'x'), (2, 1, 'y');
    insert into club values ('chess', 'Mate.'); insert into node values (1, 1, 'root'), (2, 1, 'leaf');
    insert into membership values (1, 'chess', 'anon', true), (2, 'chess', 'other', true);`);
});

const ask = (query: string, role?: string): Promise<unknown> => started.ask(`mutation { ${query} }`, role);
/** The only member of an object, of which only the member is of interest. */
async function answer(query: string, role?: string): Promise<unknown> {
  return Object.values((await ask(query, role)) as object)[0];
}
async function errorOf(query: string): Promise<unknown> {
  const { errors } = await started.graph.execute({ query: `mutation { ${query} }` }, { role: 'service_role' });
  const [error] = errors ?? [];
  return error && [error.extensions.code, error.path?.join('.')];
}
const likes = 'likesForArticle likeCount likesCollection { totalCount }';
const liked = (count: number) => ({ likesForArticle: count, likeCount: count, likesCollection: { totalCount: count } });

test('an inserted row is among those that it belongs to', async () => {
  assert.deepEqual(await answer(`insertIntoLikesCollection(objects: [{articleId: 1, who: "a"}]) { records { id article { ${likes} } } }`), {
    records: [{ id: 1, article: liked(1) }],
  });
  const many = 'insertIntoLikesCollection(objects: [{articleId: 2, who: "b"}, {articleId: 1, who: "c"}, {articleId: 2, who: "d"}])';
  assert.deepEqual(await answer(`${many} { affectedCount records { who article { ${likes} } } }`), {
    affectedCount: 3,
    records: [
      { who: 'b', article: liked(2) },
      { who: 'c', article: liked(2) },
      { who: 'd', article: liked(2) },
    ],
  });
});

test('a deleted row is returned as it was, beside what is left', async () => {
  await started.pglite.exec(`insert into likes (article_id, who) values (1, 'a'), (1, 'b')`);
  assert.deepEqual(
    await answer(`deleteFromLikesCollection(filter: {who: {eq: "a"}}) { records { who mood nodeId article { ${likes} } } }`),
    {
      records: [{ who: 'a', mood: 'glad', nodeId: Buffer.from('["public", "likes", 1]').toString('base64'), article: liked(1) }],
    },
  );
  // What referred to it is gone too, and functions get the row as it was.
  assert.deepEqual(
    await answer(
      'deleteFromArticleCollection(filter: {id: {eq: 1}}) { affectedCount records { title likesForArticle likesCollection { totalCount } } }',
    ),
    { affectedCount: 1, records: [{ title: 'one', likesForArticle: 0, likesCollection: { totalCount: 0 } }] },
  );
});

test('an update shows new relations, and a key that cascades', async () => {
  await started.pglite.exec(`insert into likes (article_id, who) values (1, 'a')`);
  assert.deepEqual(
    await answer(`updateLikesCollection(set: {articleId: 2}, filter: {who: {eq: "a"}}) { records { article { id likesForArticle } } }`),
    { records: [{ article: { id: 2, likesForArticle: 1 } }] },
  );
  await started.pglite.exec(`insert into step values (1, 1, 's')`);
  assert.deepEqual(
    await answer(
      'updateTaskCollection(set: {id: 7}, filter: {id: {eq: 1}}) { records { id stepCollection { edges { node { taskId } } } } }',
    ),
    { records: [{ id: 7, stepCollection: { edges: [{ node: { taskId: 7 } }] } }] },
  );
});

test('a key that cascades to the rows that are written themselves', async () => {
  const selection = 'affectedCount records { id bossId nodeId boss { id } }';
  const nodeId = (id: number) => Buffer.from(`["public", "person", ${id}]`).toString('base64');
  assert.deepEqual(await answer(`updatePersonCollection(set: {id: 9}, filter: {id: {eq: 1}}) { ${selection} }`), {
    affectedCount: 1,
    records: [{ id: 9, bossId: 9, nodeId: nodeId(9), boss: { id: 9 } }],
  });
  // Also if nothing but columns is asked for.
  assert.deepEqual(await answer('updatePersonCollection(set: {}, increment: {id: 10}, atMost: 9) { records { id bossId } }'), {
    records: [
      { id: 13, bossId: 12 },
      { id: 12, bossId: 19 },
      { id: 19, bossId: 19 },
    ],
  });
});

test('rows that triggers change or leave out', async () => {
  const objects = '[{id: 5, name: "shifted"}, {id: 6, name: "skipped"}, {id: 7, name: "plain"}]';
  assert.deepEqual(
    await answer(`insertIntoTaskCollection(objects: ${objects}) { affectedCount records { id name stepCollection { edges { cursor } } } }`),
    {
      affectedCount: 2,
      records: [
        { id: 1005, name: 'shifted', stepCollection: { edges: [] } },
        { id: 7, name: 'plain', stepCollection: { edges: [] } },
      ],
    },
  );
  assert.deepEqual(
    await answer(
      'insertIntoTaskCollection(objects: [{id: 8, name: "skipped"}]) { affectedCount records { id stepCollection { edges { cursor } } } }',
    ),
    { affectedCount: 0, records: [] },
  );
  assert.deepEqual(await answer('insertIntoStepCollection(objects: [{id: 1, taskId: 2}]) { records { task { state } } }'), {
    records: [{ task: { state: 'done' } }],
  });
  // An update of the same row behind it is seen too.
  assert.deepEqual(
    await answer(
      'updateTaskCollection(set: {state: "odd"}, filter: {id: {eq: 1}}) { records { state stepCollection { edges { cursor } } } }',
    ),
    { records: [{ state: 'restated', stepCollection: { edges: [] } }] },
  );
});

test('each field shows the state after it, and not after those that follow', async () => {
  const records = 'affectedCount records { title likesForArticle }';
  assert.deepEqual(
    await ask(`a: updateArticleCollection(set: {title: "x"}, filter: {id: {eq: 1}}) { ${records} }
      like: insertIntoLikesCollection(objects: [{articleId: 1, who: "a"}]) { affectedCount }
      b: updateArticleCollection(set: {title: "y"}, filter: {id: {eq: 1}}) { ${records} }
      c: deleteFromArticleCollection(filter: {id: {eq: 1}}) { ${records} }
      none: deleteFromArticleCollection(filter: {id: {eq: 1}}) { ${records} }`),
    {
      a: { affectedCount: 1, records: [{ title: 'x', likesForArticle: 0 }] },
      like: { affectedCount: 1 },
      b: { affectedCount: 1, records: [{ title: 'y', likesForArticle: 1 }] },
      c: { affectedCount: 1, records: [{ title: 'y', likesForArticle: 0 }] },
      none: { affectedCount: 0, records: [] },
    },
  );
});

test('upserts: new, changed and unchanged rows', async () => {
  await started.pglite.exec(`insert into likes (article_id, who) values (1, 'a'), (1, 'b')`);
  const objects = '[{articleId: 2, who: "a"}, {articleId: 2, who: "new"}]';
  const selection = 'affectedCount records { who article { id likesForArticle } }';
  assert.deepEqual(
    await answer(
      `insertIntoLikesCollection(objects: ${objects}, onConflict: {constraint: likes_who_key, updateColumns: [articleId]}) { ${selection} }`,
    ),
    {
      affectedCount: 2,
      records: [
        { who: 'a', article: { id: 2, likesForArticle: 2 } },
        { who: 'new', article: { id: 2, likesForArticle: 2 } },
      ],
    },
  );
  assert.deepEqual(
    await answer(
      `insertIntoLikesCollection(objects: [{articleId: 1, who: "b"}], onConflict: {constraint: likes_who_key, updateColumns: []}) { ${selection} }`,
    ),
    { affectedCount: 0, records: [] },
  );
});

test('lists in several orders, with aliases and fields that are repeated', async () => {
  await started.pglite.exec(`insert into likes (article_id, who) values (2, 'a')`);
  const objects = '[{articleId: 1, who: "c"}, {articleId: 2, who: "b"}, {articleId: 1, who: "d"}]';
  const edges = (order: string) => `edges(orderBy: [${order}]) { cursor node { who } }`;
  const cursor = (...values: unknown[]) => Buffer.from(`[${values.map((value) => JSON.stringify(value)).join(', ')}]`).toString('base64');
  assert.deepEqual(
    await answer(`insertIntoLikesCollection(objects: ${objects}) {
      up: ${edges('{article: {likeCount: AscNullsLast}}, {who: AscNullsLast}')}
      n: affectedCount again: affectedCount one: records { who again: who who article { id } } two: records { article { n: likesForArticle } }
      down: ${edges('{article: {title: DescNullsLast}}, {id: AscNullsLast}')} }`),
    {
      up: [
        { cursor: cursor(2, 'b', 3), node: { who: 'b' } },
        { cursor: cursor(2, 'c', 2), node: { who: 'c' } },
        { cursor: cursor(2, 'd', 4), node: { who: 'd' } },
      ],
      n: 3,
      again: 3,
      one: [
        { who: 'c', again: 'c', article: { id: 1 } },
        { who: 'b', again: 'b', article: { id: 2 } },
        { who: 'd', again: 'd', article: { id: 1 } },
      ],
      two: [{ article: { n: 2 } }, { article: { n: 2 } }, { article: { n: 2 } }],
      down: [
        { cursor: cursor('two', 3, 3), node: { who: 'b' } },
        { cursor: cursor('one', 2, 2), node: { who: 'c' } },
        { cursor: cursor('one', 4, 4), node: { who: 'd' } },
      ],
    },
  );
});

test('rows of views, by their key or with a trigger', async () => {
  await started.pglite.exec('update event set seen = true');
  const inserted = await answer(
    'insertIntoAnyEventCollection(objects: [{name: "third"}, {name: "fourth"}]) { affectedCount records { id name shownBadges sameNumber { label } } }',
  );
  assert.deepEqual(inserted, {
    affectedCount: 2,
    records: [
      { id: 3, name: 'third', shownBadges: 0, sameNumber: null },
      { id: 4, name: 'fourth', shownBadges: 0, sameNumber: null },
    ],
  });
  const badges = 'badgeCollection { edges { node { label } } }';
  const updated = `updateSeenEventCollection(set: {name: "new"}, filter: {id: {eq: 1}}) { records { name ${badges} } }`;
  assert.deepEqual(await answer(updated), {
    records: [{ name: 'new', badgeCollection: { edges: [{ node: { label: 'x' } }, { node: { label: 'y' } }] } }],
  });
  // What a trigger has changed behind the write is the same everywhere in the response.
  const names = 'records { name event { name } } edges(orderBy: [{event: {name: AscNullsLast}}, {name: AscNullsLast}]) { node { name } }';
  const renamed = { records: [{ name: 'renamed', event: { name: 'renamed' } }], edges: [{ node: { name: 'renamed' } }] };
  assert.deepEqual(await answer(`updateSeenEventCollection(set: {name: "odd"}, filter: {id: {eq: 1}}) { ${names} }`), renamed);
  assert.deepEqual(await answer(`insertIntoSeenEventCollection(objects: [{name: "odd"}]) { ${names} }`), renamed);
  const declared = 'updateAnyEventCollection(set: {name: "odd"}, filter: {id: {eq: 3}}) { records { name shownBadges } }';
  assert.deepEqual(await answer(declared), { records: [{ name: 'renamed', shownBadges: 0 }] });
  // A row that is no longer in the view is returned as it was written.
  assert.deepEqual(
    await answer(`updateSeenEventCollection(set: {name: "gone"}, filter: {id: {eq: 1}}) { records { id name ${badges} } }`),
    {
      records: [{ id: 1, name: 'gone', badgeCollection: { edges: [{ node: { label: 'x' } }, { node: { label: 'y' } }] } }],
    },
  );
  assert.deepEqual(await answer(`deleteFromSeenEventCollection(filter: {id: {eq: 2}}) { records { id name ${badges} } }`), {
    records: [{ id: 2, name: 'second', badgeCollection: { edges: [] } }],
  });
});

test('rows of tables whose unique key is declared', async () => {
  const tags = 'tagCollection { edges { node { code name } } }';
  const tag = { code: 'a', name: 'renamed' };
  assert.deepEqual(
    await answer(
      `insertIntoTagCollection(objects: [{code: "a", name: "odd", articleId: 1}]) { records { code name article { ${tags} } } }`,
    ),
    {
      records: [{ ...tag, article: { tagCollection: { edges: [{ node: tag }] } } }],
    },
  );
});

test('rows that policies hide after the write are counted, and returned only if they were deleted', async () => {
  const selection = 'affectedCount records { id sizeOfClub }';
  assert.deepEqual(await answer(`updateMembershipCollection(set: {who: "me"}, filter: {id: {eq: 2}}) { ${selection} }`, 'anon'), {
    affectedCount: 1,
    records: [{ id: 2, sizeOfClub: 2 }],
  });
  assert.deepEqual(await answer(`updateMembershipCollection(set: {active: false}, filter: {id: {eq: 1}}) { ${selection} }`, 'anon'), {
    affectedCount: 1,
    records: [],
  });
  await started.pglite.exec('update membership set active = true');
  assert.deepEqual(
    await answer(
      'deleteFromMembershipCollection(filter: {id: {eq: 1}}) { affectedCount records { id sizeOfClub club { motto } } }',
      'anon',
    ),
    { affectedCount: 1, records: [{ id: 1, sizeOfClub: 0, club: null }] },
  );
});

test('what a deleted row must refer to is returned as it was, if it was deleted too', async () => {
  const selection = 'records { id parent { id name parent { name } } nodeCollection { edges { node { id } } } }';
  const parent = { id: 1, name: 'root', parent: { name: 'root' } };
  assert.deepEqual(await answer(`deleteFromNodeCollection(atMost: 2) { ${selection} again: records { up: parent { up: id } } }`), {
    records: [
      { id: 1, parent, nodeCollection: { edges: [] } },
      { id: 2, parent, nodeCollection: { edges: [] } },
    ],
    again: [{ up: { up: 1 } }, { up: { up: 1 } }],
  });
  await started.pglite.exec(`insert into node values (1, 1, 'root'), (2, 1, 'leaf')`);
  // If it is still there, it is read after the delete.
  assert.deepEqual(
    await answer(
      'deleteFromNodeCollection(filter: {id: {eq: 2}}) { records { parent { name nodeCollection { edges { node { id } } } } } }',
    ),
    {
      records: [{ parent: { name: 'root', nodeCollection: { edges: [{ node: { id: 1 } }] } } }],
    },
  );
});

test('functions that write and return rows', async () => {
  assert.deepEqual(await ask(`likeArticle(articleId: 1, who: "a") { title ${likes} } noCounter { total article { id } }`), {
    likeArticle: { title: 'one', ...liked(1) },
    noCounter: null,
  });
  const page =
    'first: 1, filter: {likesCollection: {count: {eq: 1}}}, orderBy: [{likesCollection: {count: DescNullsLast}}, {id: DescNullsLast}]';
  assert.deepEqual(await answer(`likeAll(who: "b", ${page}) { totalCount edges { node { id ${likes} } } pageInfo { hasNextPage } }`), {
    totalCount: 1,
    edges: [{ node: { id: 2, ...liked(1) } }],
    pageInfo: { hasNextPage: false },
  });
  assert.deepEqual(await ask('countUp(by: 2) again: countUp(by: 3)'), { countUp: 2, again: 5 });
  assert.deepEqual(await started.pglite.query('select count(*)::int from likes').then(({ rows }) => rows), [{ count: 3 }]);
});

test('"atMost" holds, and nothing is written above it', async () => {
  const change = 'updateArticleCollection(set: {title: "x"}, atMost: 1) { records { likesForArticle } }';
  assert.deepEqual(await errorOf(change), ['TOO_MANY_ROWS', 'updateArticleCollection']);
  assert.deepEqual(await errorOf('a: deleteFromArticleCollection { records { likesForArticle } }'), ['TOO_MANY_ROWS', 'a']);
  assert.deepEqual(
    await answer('updateArticleCollection(set: {title: "x"}, atMost: 2) { affectedCount records { title likesForArticle } }'),
    {
      affectedCount: 2,
      records: [
        { title: 'x', likesForArticle: 0 },
        { title: 'x', likesForArticle: 0 },
      ],
    },
  );
});

test('an error in the response has the path of its field, undoes the write, and one in the write that of the root field', async () => {
  const insert = (more: string) => `a: insertIntoStepCollection(objects: [{id: 1, taskId: 1${more}}])`;
  assert.deepEqual(await errorOf(`${insert('')} { all: records { name broken task { name } } }`), ['INVALID_VALUE', 'a.all.broken']);
  assert.deepEqual(await errorOf(`${insert('')} { records { task { stepCollection(first: 1) { edges { node { broken } } } } } }`), [
    'INVALID_VALUE',
    'a.records.task.stepCollection.edges.node.broken',
  ]);
  assert.deepEqual(await errorOf(`${insert('')} { query { stepCollection { edges { node { broken } } } } }`), [
    'INVALID_VALUE',
    'a.query.stepCollection.edges.node.broken',
  ]);
  await started.pglite.exec('insert into step values (1, 2)');
  assert.deepEqual(await errorOf(`${insert('')} { records { broken task { name } } }`), ['CONSTRAINT_VIOLATION', 'a']);
  assert.deepEqual((await started.pglite.query('select * from step')).rows, [{ id: 1, task_id: 2, name: null }]);
});

test('"query" reads anything after its field, as the same role', async () => {
  const counts =
    'query { likesCollection { totalCount } all: articleCollection(first: 1) { edges { node { likesForArticle } } } __typename }';
  const seen = (likes: number, ofFirst: number) => ({
    likesCollection: { totalCount: likes },
    all: { edges: [{ node: { likesForArticle: ofFirst } }] },
    __typename: 'Query',
  });
  const id = Buffer.from('["public", "article", 2]').toString('base64');
  assert.deepEqual(
    await ask(`a: insertIntoLikesCollection(objects: [{articleId: 1, who: "a"}]) { affectedCount ${counts} }
      b: insertIntoLikesCollection(objects: [{articleId: 2, who: "b"}, {articleId: 1, who: "c"}]) { ${counts} records { id } affectedCount }
      c: updateArticleCollection(set: {title: "x"}, filter: {id: {eq: 2}}) { query { articleByPk(id: 2) { title } node(nodeId: "${id}") { ... on Article { title } } } }
      d: deleteFromLikesCollection(filter: {who: {eq: "c"}}) { only: query { likesCollection { totalCount } } ${counts} }
      e: insertIntoArticleCollection(objects: [{title: "z", likesCollection: {create: [{who: "z"}]}}]) { query { likesCollection { totalCount } } }`),
    {
      a: { affectedCount: 1, query: seen(1, 1) },
      b: { query: seen(3, 2), records: [{ id: 2 }, { id: 3 }], affectedCount: 2 },
      c: { query: { articleByPk: { title: 'x' }, node: { title: 'x' } } },
      d: { only: { likesCollection: { totalCount: 2 } }, query: seen(2, 1) },
      e: { query: { likesCollection: { totalCount: 3 } } },
    },
  );
  assert.deepEqual(
    await answer(
      'updateMembershipCollection(set: {active: false}, filter: {id: {eq: 1}}) { affectedCount query { membershipCollection { edges { cursor } } } }',
      'anon',
    ),
    { affectedCount: 1, query: { membershipCollection: { edges: [] } } },
  );
});

test('"query" does not introspect, and limits count what it reads', async () => {
  const { graph } = started;
  const insert = (selection: string) => `mutation { insertIntoLikesCollection(objects: [{who: "a"}]) { ${selection} } }`;
  const run = async (selection: string) => (await graph.execute({ query: insert(selection) }, { role: 'service_role' })).errors?.[0];
  assert.equal(
    (await run('query { a: __schema { queryType { name } } }'))?.message,
    'A mutation cannot introspect. Ask for "__schema" in a query.',
  );
  assert.deepEqual((await run('query { __type(name: "Query") { name } }'))?.path, ['insertIntoLikesCollection', 'query', '__type']);
  const cost = async (selection: string) =>
    (await graph.cost({ query: insert(selection) }, { role: 'service_role' })).operations[0]!.counts;
  const [plain, more] = [
    await cost('affectedCount'),
    await cost('query { likesCollection(first: 20, filter: {who: {neq: "z"}}) { edges { cursor } } }'),
  ];
  assert.deepEqual(
    [more.estimatedRows! - plain.estimatedRows!, more.subqueries! - plain.subqueries!, more.filterMembers! - plain.filterMembers!],
    [20, 1, 1],
  );
});

test("in the caller's own transaction", async () => {
  await started.pglite.transaction(async (transaction) => {
    const query = `mutation { insertIntoLikesCollection(objects: [{articleId: 1, who: "a"}]) { records { article { ${likes} } } query { likesCollection { totalCount } } } }`;
    const { data } = await started.graph.resolve(transaction, { query });
    assert.deepEqual(data, {
      insertIntoLikesCollection: { records: [{ article: liked(1) }], query: { likesCollection: { totalCount: 1 } } },
    });
    await transaction.rollback();
  });
});

/** Random writes, whose records a query by `nodeId` must find again as they were returned. */
test('the records equal those that a later query finds', async () => {
  const person = 'nodeId id name boss { nodeId name } personCollection { edges { node { id boss { id } } } }';
  let state = 7;
  const random = (below: number) => {
    state = (state * 48271) % 2147483647;
    return state % below;
  };
  let compared = 0;
  for (let round = 0; round < 40; round += 1) {
    const { rows } = await started.pglite.query<{ id: number }>('select id from person order by id');
    const [some, boss, id] = [rows[random(rows.length)]!.id, rows[random(rows.length)]!.id, random(60)];
    const write = [
      `insertIntoPersonCollection(objects: [{id: ${id}, name: "n", bossId: ${boss}}, {id: ${id + 60}, name: "m", bossId: ${id}}], onConflict: {constraint: person_pkey, updateColumns: [bossId]})`,
      `updatePersonCollection(set: {id: ${id}}, filter: {id: {eq: ${some}}})`,
      `updatePersonCollection(set: {bossId: ${boss}}, filter: {id: {lt: ${some}}}, atMost: 50)`,
      `updatePersonCollection(set: {}, increment: {id: 100}, filter: {bossId: {eq: ${boss}}}, atMost: 50)`,
    ][random(4)]!;
    const { data } = await started.graph.execute({ query: `mutation { a: ${write} { records { ${person} } } }` }, { role: 'service_role' });
    const records = (data as { a: { records: { nodeId: string }[] } } | null)?.a.records ?? [];
    for (const record of records) {
      const found = await started.ask(`{ node(nodeId: "${record.nodeId}") { ... on Person { ${person} } } }`);
      assert.deepEqual(found, { node: record }, write);
      compared += 1;
    }
  }
  assert.ok(compared > 40, `${compared} records`);
});
