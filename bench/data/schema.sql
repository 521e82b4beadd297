-- The benchmark's schema: a record shop with playlists. Loaded by a superuser into an empty database.
create role anon nologin noinherit;
create role authenticated nologin noinherit;
create role authenticator login noinherit;
grant anon, authenticated to authenticator;

create type album_kind as enum ('studio', 'live', 'compilation', 'single');
create type listener_plan as enum ('free', 'family', 'premium');

create table artist (
  id int primary key,
  name text not null,
  country text not null,
  biography text,
  is_active boolean not null,
  created_at timestamptz not null
);

create table album (
  id int primary key,
  artist_id int not null references artist,
  public_id uuid not null unique,
  title text not null,
  description text not null,
  kind album_kind not null,
  released_on date,
  label text not null,
  price numeric(8, 2) not null,
  rating numeric(3, 2),
  plays int not null,
  genres text[] not null,
  details jsonb not null,
  created_at timestamptz not null
);
create index on album (artist_id, id);
create index on album (kind, plays, id);
create index on album (rating, id);

create table track (
  id int primary key,
  album_id int not null references album,
  position smallint not null,
  title text not null,
  seconds int not null,
  plays int not null,
  loudness numeric(4, 2)
);
create index on track (album_id, id);

create table listener (
  id int primary key,
  subject uuid not null unique,
  name text not null,
  email text not null unique,
  plan listener_plan not null,
  balance numeric(10, 2) not null,
  is_active boolean not null,
  created_at timestamptz not null
);

create table listener_profile (
  listener_id int primary key references listener,
  motto text,
  visits int not null,
  updated_at timestamptz not null
);

create table playlist (
  id int primary key,
  listener_id int not null references listener,
  name text not null
);
create index on playlist (listener_id, id);

create table playlist_track (
  playlist_id int not null references playlist,
  track_id int not null references track,
  position int not null,
  primary key (playlist_id, track_id)
);
create index on playlist_track (playlist_id, position);
create index on playlist_track (track_id);

-- The table of the workload `insert`; emptied before each slice.
create table review (
  id bigint generated always as identity primary key,
  listener_id int not null references listener,
  album_id int not null references album,
  stars smallint not null check (stars between 1 and 5),
  message text not null,
  created_at timestamptz not null default now()
);
create index on review (listener_id);
create index on review (album_id);

-- The tables of nested inserts; emptied before each slice.
create table setlist (
  id bigint primary key generated always as identity,
  listener_id int not null references listener,
  name text not null
);
create table setlist_entry (
  id bigint primary key generated always as identity,
  setlist_id bigint not null references setlist,
  position int not null,
  note text not null
);
create index on setlist_entry (setlist_id, position);

-- Row level security as docs/performance.md recommends it: the claims are read once per statement.
create table diary_entry (
  id bigint primary key,
  owner uuid not null,
  title text not null,
  body text not null,
  is_done boolean not null,
  written_at timestamptz not null
);
create index on diary_entry (owner, id);
alter table diary_entry enable row level security;
create policy own_entries on diary_entry to authenticated
  using (owner = (select (current_setting('request.jwt.claims', true)::json ->> 'sub')::uuid));

-- Row level security with a policy that calls a function for each row.
create table channel_member (
  channel_id int not null,
  member uuid not null,
  primary key (channel_id, member)
);
create table message (
  id bigint primary key,
  channel_id int not null,
  body text not null,
  sent_at timestamptz not null
);
create index on message (channel_id, id);

create schema internal;
create function internal.is_member(channel int) returns boolean stable security definer set search_path = '' language sql as $$
  select exists (
    select from public.channel_member
    where channel_id = channel and member = (current_setting('request.jwt.claims', true)::json ->> 'sub')::uuid
  )
$$;
alter table message enable row level security;
create policy of_members on message to authenticated using (internal.is_member(channel_id));

-- Texts to search, and documents.
create table article (
  id int primary key,
  title text not null,
  body text not null,
  details jsonb not null,
  words tsvector not null generated always as (
    setweight(to_tsvector('english', title), 'A') || setweight(to_tsvector('english', body), 'B')
  ) stored
);
create index on article using gin (words);
create index on article using gin (details jsonb_path_ops);

comment on schema public is '@graphql({"inflect_names": true, "introspection": true, "max_rows": 100})';
comment on table track is '@graphql({"totalCount": {"enabled": true}, "aggregate": {"enabled": true}})';

-- A plain view: its key and its relations are inferred from its definition.
create view studio_album with (security_invoker = true) as
  select album.id, album.artist_id, album.title, artist.name as artist_name
  from album join artist on artist.id = album.artist_id where album.kind = 'studio';

grant usage on schema public to anon, authenticated;
grant usage on schema internal to authenticated;
grant select on artist, album, track, listener, listener_profile, playlist, playlist_track, article, studio_album to anon, authenticated;
grant select on diary_entry, message to authenticated;
grant select, insert on review, setlist, setlist_entry to authenticated;
grant usage on sequence setlist_id_seq to authenticated;
grant insert, update on listener_profile to authenticated;
