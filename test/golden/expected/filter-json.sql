select (select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"id":"', t1."id"::int8, '"}}'), ','), ''), ']}')
  from (select t1."id"
    from "public"."act" as t1
    where (t1."rider" @> $1::jsonb and t1."rider" <@ $2::jsonb and t1."rider" = $3::jsonb and t1."rider" ? $4::text and t1."rider" ?| $5::text[] and t1."rider" ?& $6::text[] and t1."rider" is not null)
    order by t1."id"
    limit 30) as t1),
(select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"id":"', t2."id"::int8, '"}}'), ','), ''), ']}')
  from (select t2."id"
    from "public"."act" as t2
    where (t2."rider" @? $7::jsonpath or pg_catalog.jsonb_path_exists(t2."rider", $8::jsonpath, $9::jsonb, true))
    order by t2."id"
    limit 30) as t2);
