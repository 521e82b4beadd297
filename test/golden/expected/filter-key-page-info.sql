select (select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"name":', pg_catalog.to_json(t1."name"), '}}'), ',') filter (where t1."(number)" <= 30), ''),
    '],"pageInfo":{"hasNextPage":', (pg_catalog.count(*) > 30)::text,
    '}}')
  from (select t1."name", pg_catalog.row_number() over (order by t1."id") as "(number)"
    from "public"."act" as t1
    where t1."id" = $1::bigint
    order by t1."id"
    limit 31) as t1),
(select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"id":"', t2."id"::int8, '"}}'), ','), ''), ']}')
  from (select t2."id"
    from "public"."act" as t2
    where t2."id" = $2::bigint
    order by t2."id"
    limit 0) as t2);
