with changed as (update "public"."stage" as t1
  set "capacity" = $1::integer
  where (t1."id" = $2::integer and t1."capacity" < $3::integer)
  returning pg_catalog.concat('{"affectedCount":1', $4::text,
    '[{"name":', pg_catalog.to_json(t1."name"),
    ',"festival":', coalesce((select pg_catalog.concat('{"name":', pg_catalog.to_json(t2."name"), '}')
        from "public"."festival" as t2
        where t2."id" = t1."festival_id"), 'null'),
    '}]}') as "response")
select coalesce((select "response" from changed), pg_catalog.concat('{"affectedCount":0', $4::text, '[]}'));

with changed as (delete from "public"."performance" as t1
  where (t1."stage_id" = $1::integer and t1."slot" = $2::integer)
  returning pg_catalog.concat('{"edges":[', pg_catalog.concat('{"cursor":"', pg_catalog.replace(pg_catalog.encode(pg_catalog.convert_to(pg_catalog.concat('[', t1."stage_id",
              ', ', t1."slot",
              ']'), 'UTF8'), 'base64'), E'\n', ''), '"}'), '],"__typename":"PerformanceDeleteResponse"}') as "response")
select coalesce((select "response" from changed), '{"edges":[],"__typename":"PerformanceDeleteResponse"}');
