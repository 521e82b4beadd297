-- What "rowgraph dev --sql schema.sql --watch" serves: each time you save this file, it is loaded into a new database, and the API follows.
create table note (
  id int primary key generated always as identity,
  owner text default current_setting('request.jwt.claims', true)::json ->> 'sub',
  body text not null,
  is_public bool not null default false,
  created_at timestamptz not null default now()
);

-- Who sees and writes what: everybody reads what is public, users do as they like with their own notes.
alter table note enable row level security;
create policy public_notes on note for select using (is_public);
create policy own_notes on note to authenticated using (owner = (select current_setting('request.jwt.claims', true)::json ->> 'sub'));

insert into note (owner, body, is_public) values ('ada', 'Hello, everybody', true), ('ada', 'For Ada alone', false), ('bela', 'For Bela alone', false);
