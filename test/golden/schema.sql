-- The schema of the golden files: a music festival. Every kind of relation between tables, columns of every sort that compiles to SQL of
-- its own, functions of each kind. Row level security is off but for one table, as policies are PostgreSQL's and do not show in our SQL.
comment on schema public is '@graphql({"inflect_names": true, "introspection": true})';

create type genre as enum ('rock', 'folk', 'drum and bass');
comment on type genre is '@graphql({"mappings": {"drum and bass": "DRUM_AND_BASS"}})';

create table act(
  id bigint primary key,
  name text not null unique,
  genre genre not null,
  other_genres genre[],
  founded smallint,
  fee numeric(10, 2),
  rating double precision,
  tags text[] not null default '{}',
  rider jsonb,
  touring boolean not null default true
);
comment on table act is '@graphql({"totalCount": {"enabled": true}, "aggregate": {"enabled": true}})';
-- What settles conflicts by its definition.
create unique index act_touring on act (lower(name), founded) where touring;

-- A relation to itself, and a key of type uuid.
create table musician(
  id uuid primary key default gen_random_uuid(),
  full_name text not null,
  born date,
  joined timestamptz not null default now(),
  act_id bigint not null references act(id),
  mentor_id uuid references musician(id)
);
comment on table musician is '@graphql({"aggregate": {"enabled": true}})';

-- Two relations to the same table.
create table festival(
  id int primary key,
  name text not null,
  starts date,
  gates time,
  opener_id bigint references act(id),
  closer_id bigint references act(id)
);
comment on table festival is '@graphql({"totalCount": {"enabled": true}, "aggregate": {"enabled": true}})';

create index on festival (opener_id);

create table stage(id int primary key, festival_id int not null references festival(id), name varchar(20) not null, capacity int);
comment on table stage is '@graphql({"max_rows": 5})';

-- A composite key, and a relation from it to another table.
create table performance(
  stage_id int references stage(id),
  slot int,
  act_id bigint references act(id),
  primary key (stage_id, slot)
);

-- A composite relation.
create table review(
  id int generated always as identity primary key,
  stage_id int not null,
  slot int not null,
  stars int not null check (stars between 1 and 5),
  words text,
  foreign key (stage_id, slot) references performance(stage_id, slot)
);

create table visitor(id int primary key, email text not null unique, phone text);
comment on column visitor.phone is '@graphql({"name": "telephone"})';

-- One to one.
create table badge(visitor_id int primary key references visitor(id), code uuid not null);

-- Many to many.
create table ticket(
  visitor_id int references visitor(id),
  festival_id int references festival(id),
  price numeric(8, 2) not null,
  bought timestamp not null default now(),
  primary key (festival_id, visitor_id)
);
comment on constraint ticket_festival_id_fkey on ticket is '@graphql({"foreign_name": "event", "local_name": "tickets"})';

create table sale(day date, id int, amount numeric, primary key (day, id)) partition by range (day);
create table sale_2025 partition of sale for values from ('2025-01-01') to ('2026-01-01');

create view big_stage as select id, festival_id, name from stage where capacity > 10000;
comment on view big_stage is '@graphql({
  "primary_key_columns": ["id"],
  "foreign_keys": [
    {"local_name": "bigStages", "local_columns": ["festival_id"], "foreign_name": "festival", "foreign_schema": "public", "foreign_table": "festival", "foreign_columns": ["id"]}
  ]
})';

-- Computed: a value, one row, many rows.
create function _billing(act) returns text language sql stable as $$ select upper($1.name) $$;
create function _founder(act) returns setof musician rows 1 language sql stable as $$ select m from musician m where m.act_id = $1.id order by joined limit 1 $$;
create function _acts(festival) returns setof act language sql stable as $$ select a from act a where a.id in ($1.opener_id, $1.closer_id) $$;

-- Functions as fields: a value, an array, a row, rows; and one that changes something.
create function ticket_total(festival int, from_price numeric default 0) returns numeric language sql stable
  as $$ select sum(price) from ticket where festival_id = $1 and price >= $2 $$;
create function tag_list(words text[] default '{}') returns text[] language sql immutable as $$ select words $$;
create type price as (amount numeric, currency text);
create function a_price() returns price language sql stable as $$ select row(1, 'EUR')::price $$;
create function fee_steps(out step int) returns setof int language sql stable as $$ select generate_series(1, 9) $$;
create function act_ratings() returns table (name text, rating float8, best act) language sql stable as $$ select a.name, a.rating, a from act a $$;
create function act_summary(out count bigint, out best float8) language sql stable as $$ select count(*), max(rating) from act $$;
create function best_act() returns act language sql stable as $$ select a from act a order by rating desc nulls last limit 1 $$;
create function acts_tagged(tag text) returns setof act language sql stable as $$ select a from act a where tag = any (a.tags) $$;
create function raise_fee(act_id bigint, percent int default 10) returns act language sql
  as $$ update act set fee = fee * (100 + percent) / 100 where id = act_id returning act $$;

-- A view whose key and relations follow from its definition.
create view headliner as select p.stage_id, p.slot, p.act_id, a.name from performance p join act a on a.id = p.act_id;

-- Policies decide which rows an upsert may tell of.
create table pass(id int primary key, holder text not null unique, used int not null default 0);
alter table pass enable row level security;

-- Types that are Opaque and have filters of their own.
create extension ltree;
create table slot(id int primary key, lasts interval, path ltree, host inet, during tstzrange, seats int4multirange);
comment on table slot is '@graphql({"aggregate": {"enabled": true}})';

-- Searched by a vector that PostgreSQL keeps, and by the words of columns.
create table song(
  id int primary key,
  title text not null,
  lyrics text,
  act_id bigint references act(id),
  words tsvector generated always as (to_tsvector('english', title || ' ' || coalesce(lyrics, ''))) stored
);
comment on table song is '@graphql({"totalCount": {"enabled": true}})';
create index on song using gin (words);
create table story(id int primary key, headline varchar(80), body text);
comment on table story is '@graphql({"search": {"columns": {"headline": "A", "body": "D"}, "config": "english"}})';

-- Composite types as inputs, in columns, arrays, domains and arguments.
create domain fixed_price as price check ((value).amount > 0);
create table price_tag(id int primary key, price price, former price[], fixed fixed_price);
create function in_euros(price price) returns numeric language sql stable as $$ select (price).amount $$;

-- JSON with a shape.
create table gear(id int primary key, specs jsonb, parts jsonb);
comment on column gear.specs is '@graphql({"shape": {"type": "object", "properties": {"maker": {"type": "string"}, "watts": {"type": "integer"}, "made": {"type": "string", "format": "date"}, "tags": {"type": "array", "items": {"type": "string"}}, "size": {"type": "object", "properties": {"unit": {"type": "string"}}}}}})';
comment on column gear.parts is '@graphql({"shape": {"type": "array", "items": {"type": "object", "title": "GearPart", "properties": {"no": {"type": "integer"}}}}})';
-- Arrays of types that pg_graphql only knows as Opaque, and rows of a table as values.
create table log_entry(id int primary key, hosts inet[], details jsonb[], spans int4range[], took interval[], tag price_tag, price price);
comment on table log_entry is '@graphql({"aggregate": {"enabled": true}})';
