-- A bird-watching club: what it has seen, where, and who was there. `rowgraph dev` loads this file and data.sql.
-- It shows every kind of relation, a view, enums, arrays, jsonb, computed fields, functions and row level security.
-- The roles anon, authenticated and service_role exist, with all privileges on what is created here by default.

comment on schema public is '@graphql({"inflect_names": true, "max_rows": 100})';

create type taxon_rank as enum ('order', 'family');

create type conservation_status as enum ('least concern', 'near threatened', 'vulnerable', 'endangered', 'critically endangered');
comment on type conservation_status is
  '@graphql({"mappings": {"least concern": "LEAST_CONCERN", "near threatened": "NEAR_THREATENED", "vulnerable": "VULNERABLE", "endangered": "ENDANGERED", "critically endangered": "CRITICALLY_ENDANGERED"}})';

create type behaviour as enum ('feeding', 'singing', 'nesting', 'displaying', 'migrating', 'roosting');

-- A tree: a family belongs to an order.
create table taxon (
  id integer primary key generated always as identity,
  parent_id integer references taxon,
  rank taxon_rank not null,
  name text not null unique,
  common_name text not null
);
comment on constraint taxon_parent_id_fkey on taxon is '@graphql({"foreign_name": "parent", "local_name": "children"})';
create index on taxon (parent_id);

create table species (
  id integer primary key generated always as identity,
  taxon_id integer not null references taxon,
  code text not null unique,
  name text not null,
  scientific_name text not null unique,
  status conservation_status not null default 'least concern',
  wingspan_cm numeric(5, 1) not null check (wingspan_cm > 0),
  mass_g numeric(7, 1) not null check (mass_g > 0),
  habitats text[] not null default '{}'
);
comment on table species is
  'A species of bird on the club''s list. @graphql({"totalCount": {"enabled": true}, "aggregate": {"enabled": true}})';
comment on column species.code is 'Three letters of the genus and three of the species.';
create index on species (taxon_id);
create index on species (name);

create table site (
  id integer primary key generated always as identity,
  name text not null unique,
  area_ha numeric(8, 2) not null,
  latitude double precision not null,
  longitude double precision not null,
  opened_on date,
  facilities jsonb not null default '{}'
);
comment on table site is 'A place that the club watches. @graphql({"totalCount": {"enabled": true}})';

-- A composite key: hides are numbered within their site.
create table hide (
  site_id integer not null references site,
  number smallint not null,
  name text not null,
  seats smallint not null,
  accessible boolean not null default false,
  primary key (site_id, number)
);

create table member (
  id uuid primary key default gen_random_uuid(),
  name text not null,
  joined_on date not null default current_date
);

-- One to one: what only the member may see.
create table member_profile (
  member_id uuid primary key references member on delete cascade,
  email text not null,
  newsletter boolean not null default false,
  favourite_species_id integer references species
);
create index on member_profile (favourite_species_id);

create table outing (
  id bigint primary key generated always as identity,
  site_id integer not null references site,
  leader_id uuid not null references member,
  title text not null,
  starts_at timestamptz not null,
  weather jsonb
);
comment on table outing is '@graphql({"totalCount": {"enabled": true}})';
comment on constraint outing_leader_id_fkey on outing is '@graphql({"foreign_name": "leader", "local_name": "ledOutings"})';
create index on outing (site_id);
create index on outing (leader_id);
create index on outing (starts_at);

-- Many to many: who came along.
create table outing_member (
  outing_id bigint not null references outing on delete cascade,
  member_id uuid not null references member on delete cascade,
  drives boolean not null default false,
  primary key (outing_id, member_id)
);
comment on table outing_member is '@graphql({"name": "Participation"})';
create index on outing_member (member_id);

create table sighting (
  id bigint primary key generated always as identity,
  species_id integer not null references species,
  site_id integer not null references site,
  hide_number smallint,
  member_id uuid not null references member,
  outing_id bigint references outing,
  seen_at timestamptz not null default now(),
  birds integer not null default 1 check (birds > 0),
  behaviours behaviour[] not null default '{}',
  notes text,
  details jsonb,
  is_private boolean not null default false,
  foreign key (site_id, hide_number) references hide (site_id, number)
);
comment on table sighting is
  'Some birds of one species, seen together. @graphql({"totalCount": {"enabled": true}, "aggregate": {"enabled": true}})';
comment on column sighting.is_private is 'Nests and rare guests: only the member who saw them may see the row.';
create index on sighting (species_id, seen_at);
create index on sighting (site_id, hide_number);
create index on sighting (member_id);
create index on sighting (outing_id);
create index on sighting (seen_at);

-- A view has no keys of its own: the comment declares them. As security invoker it obeys the policies of its tables.
create view species_summary with (security_invoker = true) as
  select species_id, count(*) as sightings, sum(birds) as birds, min(seen_at) as first_seen_at, max(seen_at) as last_seen_at
  from sighting
  group by species_id;
comment on view species_summary is
  '@graphql({"primary_key_columns": ["species_id"], "foreign_keys": [{"local_name": "summaries", "local_columns": ["species_id"], "foreign_name": "species", "foreign_schema": "public", "foreign_table": "species", "foreign_columns": ["id"]}]})';

-- Computed fields of Species: `label`, and `latestSightings`, a collection.
create function _label(species species) returns text stable language sql
  return species.name || ' (' || species.scientific_name || ')';

create function _latest_sightings(species species) returns setof sighting stable language sql
begin atomic
  select * from sighting where sighting.species_id = species.id order by sighting.seen_at desc limit 5;
end;

-- A field of Query: a function that only reads.
create function species_at(site_id integer, in_month integer default null) returns setof species stable language sql as $$
  select species.* from species
  where exists (
    select from sighting
    where sighting.species_id = species.id and sighting.site_id = species_at.site_id
      and (in_month is null or extract(month from sighting.seen_at at time zone 'UTC') = in_month)
  )
$$;

-- A field of Mutation: a function that writes, as whoever calls it.
create function report_sighting(species_code text, site_id integer, birds integer default 1, notes text default null)
returns sighting volatile language sql as $$
  insert into sighting (species_id, site_id, member_id, birds, notes)
  select species.id, report_sighting.site_id, (current_setting('request.jwt.claims', true)::json ->> 'sub')::uuid,
    report_sighting.birds, report_sighting.notes
  from species where species.code = species_code
  returning *
$$;

-- Who may do what. Visitors read; members also report what they saw; only the club's own programs (service_role) do the rest. For the role anon
-- the doctor therefore notes that it has neither profiles nor report_sighting.
revoke all on all tables in schema public from anon, authenticated;
grant select on taxon, species, site, hide, member, outing, outing_member, sighting, species_summary to anon, authenticated;
grant select, insert, update on member_profile to authenticated;
grant insert, delete on outing_member to authenticated;
grant insert, update, delete on sighting to authenticated;
revoke execute on function report_sighting from public, anon;

-- And with which rows. The claim `sub` of a member's token is the member's id; in a select of its own it is read once, not for each row.
alter table taxon enable row level security;
alter table species enable row level security;
alter table site enable row level security;
alter table hide enable row level security;
alter table member enable row level security;
alter table member_profile enable row level security;
alter table outing enable row level security;
alter table outing_member enable row level security;
alter table sighting enable row level security;

create policy everybody_reads on taxon for select using (true);
create policy everybody_reads on species for select using (true);
create policy everybody_reads on site for select using (true);
create policy everybody_reads on hide for select using (true);
create policy everybody_reads on member for select using (true);
create policy everybody_reads on outing for select using (true);
create policy everybody_reads on outing_member for select using (true);
create policy everybody_reads_what_is_public on sighting for select using (not is_private);

create policy own_profile on member_profile to authenticated
  using (member_id::text = (select current_setting('request.jwt.claims', true)::json ->> 'sub'));
create policy own_participation on outing_member to authenticated
  using (member_id::text = (select current_setting('request.jwt.claims', true)::json ->> 'sub'));
create policy own_sightings on sighting to authenticated
  using (member_id::text = (select current_setting('request.jwt.claims', true)::json ->> 'sub'));
