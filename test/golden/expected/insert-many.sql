with changed as (insert into "public"."act" as t1 ("id", "name", "genre", "founded", "fee", "tags", "rider")
  values ($1::bigint, $2::text, $3::public.genre, default, default, $4::text[], $5::jsonb), ($6::bigint, $7::text, $8::public.genre, $9::smallint, $10::numeric(10,2), default, default)
  returning t1."id", t1."name", t1."tags")
select pg_catalog.concat('{"affectedCount":', pg_catalog.count(*),
  ',"records":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"id":"', t1."id"::int8,
        '","name":', pg_catalog.to_json(t1."name"),
        ',"tags":', pg_catalog.to_json(t1."tags"),
        '}'), ','), ''),
  ']}')
from changed as t1;
