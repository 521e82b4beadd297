with changed as (update "public"."stage" as t1
  set "capacity" = $1::integer
  where t1."id" = $2::integer
  returning pg_catalog.concat('{"affectedCount":1,"records":[{"name":', pg_catalog.to_json(t1."name"),
    ',"capacity":', coalesce(t1."capacity"::int4::text, 'null'),
    '}]}') as "response")
select coalesce((select "response"
    from changed), '{"affectedCount":0,"records":[]}');
