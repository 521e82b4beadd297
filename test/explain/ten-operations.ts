/** Ten operations over one schema, each slow in its own way or not at all, with the advice that they should get. */

export interface ExplainedOperation {
  readonly name: string;
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>>;
  /** Codes and SQL, in order. */
  readonly advice: readonly (readonly [code: string, sql: string])[];
}

export const schemaSql = `
comment on schema public is '@graphql({"inflect_names": true})';
create table account (id int primary key, name varchar(50), owner text);
insert into account select i, 'a' || i, 'u' || i % 10 from generate_series(1, 3000) i;
create table note (id int primary key, account_id int references account, kind text, body text, created_at timestamptz not null, weight int);
insert into note select i, i % 3000 + 1, 'k' || i % 1000, 'b', '2024-01-01'::timestamptz + i * interval '1 minute', i % 900 from generate_series(1, 20000) i;
comment on table note is '@graphql({"aggregate": {"enabled": true}, "totalCount": {"enabled": true}})';
create table label (id int primary key, note_id int references note, name text);
insert into label select i, i, 'l' from generate_series(1, 20) i;
create table log (id int primary key, subject text, at timestamptz not null);
insert into log select i, 's' || i % 10, '2024-01-01'::timestamptz + i * interval '1 second' from generate_series(1, 20000) i;
create table sale (id int, region text, primary key (id, region)) partition by list (region);
create table sale_north partition of sale for values in ('north');
create table sale_south partition of sale for values in ('south');
alter table sale add column buyer text;
insert into sale select i, case when i % 2 = 0 then 'north' else 'south' end, 'b' || i % 4000 from generate_series(1, 20000) i;
create function claim(name text) returns text language plpgsql stable as 'begin return current_setting(''request.jwt.claims'', true)::json ->> name; end';
create function visitor() returns text language plpgsql volatile as 'begin return current_setting(''request.jwt.claims'', true)::json ->> ''sub''; end';
create table "secret""s; drop" (id int primary key, "own""er" text, "it's" text);
insert into "secret""s; drop" select i, 'u' || i % 2000, 'x' from generate_series(1, 8000) i;
comment on table "secret""s; drop" is '@graphql({"name": "Secret"})';
comment on column "secret""s; drop"."own""er" is '@graphql({"name": "owner"})';
comment on column "secret""s; drop"."it's" is '@graphql({"name": "its"})';
create table task (id int primary key, owner text);
insert into task select i, 'u' || i from generate_series(1, 10) i;
create table memo (id int primary key, owner text);
insert into memo select i, 'u' || i from generate_series(1, 10) i;
create table diary (id int primary key, owner text);
insert into diary select i, 'u' || i from generate_series(1, 10) i;
alter table task enable row level security;
alter table memo enable row level security;
alter table diary enable row level security;
create policy "the owner's" on task using (owner = claim('sub'));
create policy owners on memo using (owner = current_setting('request.jwt.claims', true)::json ->> 'sub') with check (visitor() = owner and length(owner) > 0);
create policy owners on diary using (owner = (select claim('sub')));
grant all on all tables in schema public to anon;
analyze;
`;

export const operations: readonly ExplainedOperation[] = [
  { name: 'by key', query: '{ noteByPk(id: 7) { id kind account { name } } }', advice: [] },
  {
    name: 'filter without an index',
    query: 'query ofKind($kind: String!) { noteCollection(filter: { kind: { eq: $kind } }) { edges { node { id } } } }',
    variables: { kind: 'k7' },
    advice: [['missing-index', 'create index concurrently on public.note (kind);']],
  },
  {
    name: 'filter by varchar and a range',
    query: '{ accountCollection(filter: { name: { in: ["a7", "a8"] }, id: { gt: 3 } }) { edges { node { id } } } }',
    advice: [['missing-index', 'create index concurrently on public.account (name, id);']],
  },
  {
    name: 'relation without an index',
    query: '{ accountCollection(first: 5) { edges { node { id noteCollection(first: 3) { edges { node { id } } } } } } }',
    advice: [['missing-index', 'create index concurrently on public.note (account_id);']],
  },
  {
    name: 'relation of a small table',
    query: '{ noteCollection(first: 5) { edges { node { id labelCollection { edges { node { name } } } } } } }',
    advice: [['unindexed-relation', 'create index concurrently on public.label (note_id);']],
  },
  {
    name: 'newest first',
    query:
      '{ logCollection(first: 20, filter: { subject: { eq: "s7" } }, orderBy: [{ at: DescNullsLast }]) { edges { node { id at } } pageInfo { hasNextPage } } }',
    advice: [['sort-without-index', 'create index concurrently on public.log (subject, at desc, id);']],
  },
  {
    name: 'partitions',
    query: '{ saleCollection(filter: { buyer: { eq: "b7" } }) { edges { node { id } } } }',
    advice: [['missing-index', 'create index on public.sale (buyer);']],
  },
  {
    name: 'hostile names',
    query: '{ secretCollection(filter: { owner: { eq: "u7" } }) { edges { node { its } } } }',
    advice: [['missing-index', 'create index concurrently on public."secret""s; drop" ("own""er");']],
  },
  {
    name: 'calls in policies',
    query: '{ taskCollection { edges { node { id } } } diaryCollection { edges { node { id } } } }',
    advice: [['policy-calls-per-row', `alter policy "the owner's" on public.task using ((owner = (select claim('sub'::text))));`]],
  },
  {
    name: 'mutation',
    query:
      'mutation { insertIntoMemoCollection(objects: [{ id: 77, owner: "u1" }]) { records { id } } deleteFromNoteCollection(filter: { weight: { eq: 700 } }, atMost: 1000) { affectedCount } }',
    advice: [
      ['missing-index', 'create index concurrently on public.note (weight);'],
      [
        'policy-calls-per-row',
        `alter policy owners on public.memo using ((owner = (((select current_setting('request.jwt.claims'::text, true)))::json ->> 'sub'::text))) with check ((((select visitor()) = owner) AND (length(owner) > 0)));`,
      ],
    ],
  },
];
