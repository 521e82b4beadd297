select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"duringBounds":', case when t1."during" is null then 'null' else pg_catalog.concat('{"lower":', coalesce(pg_catalog.to_json(pg_catalog.lower(t1."during")), 'null'),
          ',"upper":', coalesce(pg_catalog.to_json(pg_catalog.upper(t1."during")), 'null'),
          ',"upperInclusive":', pg_catalog.upper_inc(t1."during")::bool::text,
          '}') end,
        ',"seatsBounds":', case when t1."seats" is null then 'null' else (select '[' || coalesce(pg_catalog.string_agg(pg_catalog.concat('{"lower":', coalesce(pg_catalog.lower(t2."range")::int4::text, 'null'),
                ',"upper":', coalesce(pg_catalog.upper(t2."range")::int4::text, 'null'),
                '}'), ',' order by t2."n"), '') || ']'
          from pg_catalog.unnest(t1."seats") with ordinality as t2("range", "n")) end,
        '}}'), ','), ''), ']}')
from (select t1."during", t1."seats"
  from "public"."slot" as t1
  where ((t1."during" && $1::tstzrange and pg_catalog.lower(t1."during") >= $2::timestamp with time zone) and t1."seats" @> $3::integer)
  order by t1."id"
  limit 30) as t1;
