/**
 * Changes of a database one after the other, each with a request that was sent before it and is sent again right after it: what it answers
 * then. Shared by the tests of both ways in which rowgraph learns of changes.
 */
import type { Caller, ExecutionResult } from '../../src/engine/request.ts';

/** In the place of data: the code of the first error. */
export type Expected = Record<string, unknown> | string;

export interface SchemaChange {
  readonly name: string;
  readonly sql: string;
  readonly query: string;
  readonly role?: string;
  /** What was compiled before the change still runs after it, so that PostgreSQL itself does not tell. */
  readonly isSilent?: true;
  readonly before: Expected;
  readonly after: Expected;
}

export const setup = `
  create role reader nologin; create role insider nologin; grant reader to authenticator; grant usage on schema public to reader;
  create role twin nologin; grant twin to authenticator; grant reader to twin;
  create schema hidden; create schema app; grant usage on schema app to reader;
  create type mood as enum ('calm', 'wild');
  create table book (id int primary key, title text, pages int not null, feeling mood, author int);
  create table author (id int primary key, name text);
  insert into author values (1, 'ada');
  insert into book values (1, 'one', 10, 'calm', 1), (2, 'two', 20, 'wild', 1);
  create view book_view as select id, title from book;
  comment on view book_view is '@graphql({"primary_key_columns": ["id"]})';
  create function shout(book) returns text stable language sql as $$ select upper($1.title) $$;
  create function hello() returns text stable language sql as $$ select 'hello'::text $$;
  create table insiders (id int primary key); revoke all on insiders from anon, authenticated; grant select on insiders to insider;
  grant select on book, author to reader;
  create table app.thing (id int primary key); grant select on app.thing to reader;
  create table hidden.base (id int primary key, name text); insert into hidden.base values (1, 'based');
  create view based as select id, name from hidden.base;
`;

const base64 = (text: string): string => Buffer.from(text).toString('base64');

const first = (fields: string, value: Record<string, unknown>, field = 'bookCollection') => ({
  query: `{ ${field}(first: 1) { edges { node { ${fields} } } } }`,
  data: { [field]: { edges: [{ node: value }] } },
});
const invalid = 'GRAPHQL_VALIDATION_FAILED';

interface Request {
  readonly query: string;
  readonly data: Record<string, unknown>;
}

/** A change after which a request is valid. */
function appears(name: string, sql: string, { query, data }: Request, role?: string): SchemaChange {
  return { name, sql, query, before: invalid, after: data, ...(role && { role }) };
}

/** A change after which a request is valid no more. */
function vanishes(name: string, sql: string, { query, data }: Request, role?: string): SchemaChange {
  return { name, sql, query, before: data, after: invalid, ...(role && { role }) };
}

/** The same, and PostgreSQL would still do what was asked. */
function fades(name: string, sql: string, request: Request): SchemaChange {
  return { ...vanishes(name, sql, request), isSilent: true };
}

const hello: Request = { query: '{ hello }', data: { hello: 'hello' } };
const scored: Request = {
  query: '{ bookCollection(filter: {score: {eq: "5"}}) { edges { node { id } } } }',
  data: { bookCollection: { edges: [{ node: { id: 1 } }, { node: { id: 2 } }] } },
};
const mutationHello: Request = { query: 'mutation { hello }', data: { hello: 'hello' } };
const thing: Request = { query: '{ thingCollection { edges { node { id } } } }', data: { thingCollection: { edges: [] } } };
const insiders: Request = { query: '{ insidersCollection { edges { node { id } } } }', data: { insidersCollection: { edges: [] } } };

/** A request is valid after these and was not before, or the other way around. */
export const changes: readonly SchemaChange[] = [
  appears('a new table', 'create table fresh (id int primary key)', {
    query: '{ freshCollection { edges { node { id } } } }',
    data: { freshCollection: { edges: [] } },
  }),
  vanishes('a dropped table', 'drop table fresh', {
    query: '{ freshCollection { edges { node { id } } } }',
    data: { freshCollection: { edges: [] } },
  }),
  appears('a new column', "alter table book add isbn text default 'none'", first('isbn', { isbn: 'none' })),
  appears('a column of another name', 'alter table book rename isbn to number', first('number', { number: 'none' })),
  vanishes('a dropped column', 'alter table book drop number', first('number', { number: 'none' })),
  appears(
    'a new foreign key',
    'alter table book add constraint by foreign key (author) references author',
    first('written_by: author { name }', { written_by: { name: 'ada' } }),
  ),
  appears(
    'a comment on it',
    `comment on constraint by on book is '@graphql({"foreign_name": "writer"})'`,
    first('writer { name }', { writer: { name: 'ada' } }),
  ),
  fades('a dropped foreign key', 'alter table book drop constraint by', first('writer { name }', { writer: { name: 'ada' } })),
  appears('a table of another name', 'alter table author rename to writer', first('name', { name: 'ada' }, 'writerCollection')),
  vanishes('and its old name', 'alter table writer rename to author', first('name', { name: 'ada' }, 'writerCollection')),
  appears('a directive of a name', `comment on table book is '@graphql({"name": "Volume"})'`, first('id', { id: 1 }, 'volumeCollection')),
  fades('no such directive any more', 'comment on table book is null', first('id', { id: 1 }, 'volumeCollection')),
  appears('totalCount', `comment on table book is '@graphql({"totalCount": {"enabled": true}})'`, {
    query: '{ bookCollection { totalCount } }',
    data: { bookCollection: { totalCount: 2 } },
  }),
  appears('introspection', `comment on schema public is '@graphql({"introspection": true})'`, {
    query: '{ __type(name: "book") { name } }',
    data: { __type: { name: 'book' } },
  }),
  fades('no introspection', 'comment on schema public is null', {
    query: '{ __type(name: "book") { name } }',
    data: { __type: { name: 'book' } },
  }),
  appears('a column of a domain', 'create domain score as int; alter table book add score score default 5', scored),
  {
    name: 'a type that takes the place of another one of its name',
    sql: 'alter domain score rename to old; create domain score as int; alter table book alter score type score; drop domain old',
    query: scored.query,
    before: scored.data,
    after: scored.data,
  },
  vanishes('a dropped view', 'drop view book_view', first('title', { title: 'one' }, 'book_viewCollection')),
  appears(
    'a new view',
    `create view book_view as select id, title from book; comment on view book_view is '@graphql({"primary_key_columns": ["id"]})'`,
    first('title', { title: 'one' }, 'book_viewCollection'),
  ),
  vanishes('a dropped computed field', 'drop function shout', first('shout', { shout: 'ONE' })),
  appears(
    'a new computed field',
    'create function shout(book) returns text stable language sql as $$ select upper($1.title) $$',
    first('shout', { shout: 'ONE' }),
  ),
  appears('a new value of an enum', "alter type mood add value 'mild'", {
    query: '{ bookCollection(filter: {feeling: {eq: mild}}) { edges { node { id } } } }',
    data: { bookCollection: { edges: [] } },
  }),
  fades('a renamed value of an enum', "alter type mood rename value 'mild' to 'meek'", {
    query: '{ bookCollection(filter: {feeling: {eq: mild}}) { edges { node { id } } } }',
    data: { bookCollection: { edges: [] } },
  }),
  fades('a function that becomes volatile', 'alter function hello volatile', hello),
  { name: 'and stable again', sql: 'alter function hello stable', query: hello.query, before: invalid, after: hello.data },
  vanishes('a function without the right to call it', 'revoke execute on function hello from public, anon', hello),
  appears('a function with the right to call it', 'grant execute on function hello to anon', hello),
  vanishes('a dropped function', 'drop function hello', hello),
  appears(
    'a new volatile function',
    `create function hello() returns text volatile language sql as $$ select 'hello'::text $$`,
    mutationHello,
  ),
  vanishes('a table without its grant', 'revoke select on book from reader', first('title', { title: 'one' }), 'reader'),
  appears('a grant on a column', 'grant select (id, title) on book to reader', first('title', { title: 'one' }), 'reader'),
  vanishes('no grant on the column', 'revoke select (title) on book from reader', first('title', { title: 'one' }), 'reader'),
  vanishes('no right to use a schema', 'revoke usage on schema app from reader', thing, 'reader'),
  appears('the right to use a schema', 'grant usage on schema app to reader', thing, 'reader'),
  appears('membership in a role', 'grant insider to reader', insiders, 'reader'),
  vanishes('no membership in a role', 'revoke insider from reader', insiders, 'reader'),
  appears('a grant to one of two roles that shared a schema', 'grant select on insiders to twin', insiders, 'twin'),
  { name: 'which the other has no part in', sql: '', query: insiders.query, role: 'reader', before: invalid, after: invalid },
  vanishes('no such grant any more', 'revoke select on insiders from twin', insiders, 'twin'),
  appears('a grant to one that they share again', 'grant insider to twin', insiders, 'twin'),
  { name: 'which the other has no part in, either', sql: '', query: insiders.query, role: 'reader', before: invalid, after: invalid },
  appears('a privilege by way of public', 'grant select on insiders to public', insiders, 'reader'),
  vanishes('a table in another schema', 'alter table insiders set schema hidden', insiders, 'reader'),
  fades('a table without its key', 'alter table author drop constraint author_pkey', first('name', { name: 'ada' }, 'authorCollection')),
  appears('a table with a key', 'alter table author add primary key (id)', first('name', { name: 'ada' }, 'authorCollection')),
  vanishes('a schema of another name', 'alter schema app rename to past', thing, 'reader'),
  appears('a schema of its old name', 'alter schema past rename to app', thing, 'reader'),
  fades(
    'a view of a table, in a schema that is not exposed, without its key',
    'alter table hidden.base drop constraint base_pkey',
    first('name', { name: 'based' }, 'basedCollection'),
  ),
  appears(
    'a view of a table with a key',
    'alter table hidden.base add primary key (id)',
    first('name', { name: 'based' }, 'basedCollection'),
  ),
  {
    name: 'a view of a table with another key',
    sql: 'alter table hidden.base drop constraint base_pkey, add primary key (name)',
    query: '{ basedCollection { edges { node { nodeId } } } }',
    before: { basedCollection: { edges: [{ node: { nodeId: base64('["public", "based", 1]') } }] } },
    after: { basedCollection: { edges: [{ node: { nodeId: base64('["public", "based", "based"]') } }] } },
    isSilent: true,
  },
  vanishes('a table that leaves its schema', 'alter table app.thing set schema hidden', thing, 'reader'),
  appears('a table that comes into a schema', 'alter table hidden.thing set schema app', thing, 'reader'),
  vanishes('a dropped schema', 'drop schema app cascade', thing, 'reader'),
];

/** A request is valid before and after these, and means something else. All of them are silent. */
export const silentChanges: readonly SchemaChange[] = [
  {
    name: 'a column of another type',
    sql: `alter table book alter pages type text using 'p. ' || pages`,
    query: first('pages', {}).query,
    before: first('pages', { pages: 10 }).data,
    after: first('pages', { pages: 'p. 10' }).data,
  },
  {
    name: 'a column that may be null',
    sql: 'alter table book alter pages drop not null; update book set pages = null where id = 1',
    query: first('pages', {}).query,
    before: first('pages', { pages: 'p. 10' }).data,
    after: first('pages', { pages: null }).data,
  },
  {
    name: 'names of fields that change places',
    sql: `comment on column author.id is '@graphql({"name": "name"})'; comment on column author.name is '@graphql({"name": "id"})'`,
    query: first('id name', {}, 'authorCollection').query,
    before: first('id name', { id: 1, name: 'ada' }, 'authorCollection').data,
    after: first('id name', { id: 'ada', name: 1 }, 'authorCollection').data,
  },
  {
    name: 'row level security',
    sql: 'alter table book enable row level security',
    query: first('id', {}).query,
    before: first('id', { id: 1 }).data,
    after: { bookCollection: { edges: [] } },
  },
  {
    name: 'no row level security',
    sql: 'alter table book disable row level security',
    query: first('id', {}).query,
    before: { bookCollection: { edges: [] } },
    after: first('id', { id: 1 }).data,
  },
  {
    name: 'largest pages',
    sql: `comment on table book is '@graphql({"max_rows": 1})'`,
    query: '{ bookCollection { edges { node { id } } } }',
    before: { bookCollection: { edges: [{ node: { id: 1 } }, { node: { id: 2 } }] } },
    after: { bookCollection: { edges: [{ node: { id: 1 } }] } },
  },
  {
    name: 'a table that another one takes the name of',
    sql: 'alter table author rename to old_author; create table author (id int primary key, name int); insert into author values (7, 7); grant select on author to anon',
    query: '{ authorCollection { edges { node { name } } } }',
    before: { authorCollection: { edges: [{ node: { name: 1 } }] } },
    after: { authorCollection: { edges: [{ node: { name: 7 } }] } },
  },
];

export const callerOf = ({ role = 'anon' }: SchemaChange): Caller => ({ role });

/** Data, or the code of the first error. */
export function outcomeOf({ data, errors }: ExecutionResult): Expected {
  return errors ? (errors[0]?.extensions.code ?? 'no code') : JSON.parse(JSON.stringify(data));
}
