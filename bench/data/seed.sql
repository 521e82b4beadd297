-- About 600,000 rows. Every value is computed from the number of its row, so each load is the same.
create function pg_temp.pick(row_number bigint, salt int, choices bigint) returns int immutable language sql as $$
  select ((hashint8extended(row_number, salt) & 9223372036854775807) % choices)::int
$$;
-- Several words in a row. A single expression, so that PostgreSQL inlines it.
create function pg_temp.words(row_number bigint, salt int, length int) returns text immutable language sql as $$
  select array_to_string((string_to_array(repeat('amber river night paper silver garden hollow thunder velvet window northern echo café ghost '
    || 'little summer broken golden quiet machine paper echo river little amber window ghost garden machine night golden velvet hollow '
    || 'café thunder northern quiet silver broken summer ', 2), ' '))
    [1 + pg_temp.pick(row_number, salt, 40) : length + pg_temp.pick(row_number, salt, 40)], ' ')
$$;
-- The subject of listener n, as bench/workloads/subject-of.ts computes it.
create function pg_temp.subject(n bigint) returns uuid immutable language sql as $$ select md5('listener ' || n)::uuid $$;

insert into artist
select n, initcap(pg_temp.words(n, 1, 2)) || ' ' || n, (array['DE', 'FR', 'GB', 'JP', 'NG', 'US'])[1 + pg_temp.pick(n, 2, 6)],
  case when pg_temp.pick(n, 3, 5) > 0 then pg_temp.words(n, 4, 18) end, pg_temp.pick(n, 5, 10) > 0,
  timestamptz '2020-01-01 00:00:00+00' + make_interval(mins => pg_temp.pick(n, 6, 2000000))
from generate_series(1, 10000) n;

insert into album
select n, 1 + (n - 1) % 10000, md5('album ' || n)::uuid, initcap(pg_temp.words(n, 11, 3)), pg_temp.words(n, 12, 40),
  (array['studio', 'studio', 'live', 'compilation', 'single'])[1 + pg_temp.pick(n, 13, 5)]::album_kind,
  case when pg_temp.pick(n, 14, 8) > 0 then date '1960-01-01' + pg_temp.pick(n, 15, 23000) end,
  initcap(pg_temp.words(n, 16, 1)) || ' "Records"', pg_temp.pick(n, 17, 4000) / 100.0,
  case when pg_temp.pick(n, 18, 6) > 0 then pg_temp.pick(n, 19, 500) / 100.0 end, pg_temp.pick(n, 20, 100000),
  string_to_array(pg_temp.words(n, 21, 1 + pg_temp.pick(n, 22, 4)), ' '),
  jsonb_build_object('discs', 1 + pg_temp.pick(n, 23, 3), 'studio', pg_temp.words(n, 24, 1), 'remastered', pg_temp.pick(n, 25, 2) = 1),
  timestamptz '2021-01-01 00:00:00+00' + make_interval(secs => pg_temp.pick(n, 26, 90000000))
from generate_series(1, 50000) n;

insert into track
select n, 1 + (n - 1) / 5, 1 + (n - 1) % 5, initcap(pg_temp.words(n, 31, 3)), 60 + pg_temp.pick(n, 32, 500), pg_temp.pick(n, 33, 1000000),
  case when pg_temp.pick(n, 34, 9) > 0 then -pg_temp.pick(n, 35, 3000) / 100.0 end
from generate_series(1, 250000) n;

insert into listener
select n, pg_temp.subject(n), initcap(pg_temp.words(n, 41, 2)), 'listener' || n || '@example.test',
  (array['free', 'free', 'family', 'premium'])[1 + pg_temp.pick(n, 42, 4)]::listener_plan, pg_temp.pick(n, 43, 1000000) / 100.0,
  pg_temp.pick(n, 44, 12) > 0, timestamptz '2022-01-01 00:00:00+00' + make_interval(mins => pg_temp.pick(n, 45, 1000000))
from generate_series(1, 10000) n;

insert into listener_profile
select n, pg_temp.words(n, 51, 5), pg_temp.pick(n, 52, 5000), timestamptz '2024-01-01 00:00:00+00' from generate_series(1, 10000) n;

insert into playlist select n, 1 + pg_temp.pick(n, 61, 10000), initcap(pg_temp.words(n, 62, 2)) from generate_series(1, 10000) n;

-- Tracks that are 17 apart, so that no playlist contains one twice.
insert into playlist_track
select playlist, 1 + (pg_temp.pick(playlist, 71, 250000) + 17 * place) % 250000, place
from generate_series(1, 10000) playlist, generate_series(1, 12) place;

-- 50 entries for each of the first 1,000 listeners.
insert into diary_entry
select n, pg_temp.subject(1 + n % 1000), initcap(pg_temp.words(n, 81, 3)), pg_temp.words(n, 82, 20), pg_temp.pick(n, 83, 3) = 0,
  timestamptz '2024-01-01 00:00:00+00' + make_interval(secs => pg_temp.pick(n, 84, 30000000))
from generate_series(1, 50000) n;

-- Listener n is a member of channel n and of the nine after it.
insert into channel_member
select 1 + (listener + step) % 1000, pg_temp.subject(listener) from generate_series(1, 1000) listener, generate_series(-1, 8) step;
insert into message
select n, 1 + n % 1000, pg_temp.words(n, 91, 12), timestamptz '2025-01-01 00:00:00+00' + make_interval(secs => n)
from generate_series(1, 100000) n;

-- Each has three of 1,500 topics.
insert into article
select n, initcap(pg_temp.words(n, 101, 3)), pg_temp.words(n, 102, 20) || ' topic' || 1 + pg_temp.pick(n, 103, 1500) || ' ' || pg_temp.words(n, 104, 20)
  || ' topic' || 1 + pg_temp.pick(n, 105, 1500), jsonb_build_object('topic', 1 + pg_temp.pick(n, 106, 1500), 'place', pg_temp.words(n, 107, 2))
from generate_series(1, 20000) n;
