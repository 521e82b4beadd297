select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"id":"', t1."id"::int8, '"}}'), ',') filter (where t1."(number)" <= 2), ''),
  '],"pageInfo":{"hasNextPage":', (pg_catalog.count(*) > 2)::text,
  '}}')
from (select t1.*, pg_catalog.row_number() over () as "(number)"
  from (
    (select t1."id"
      from "public"."act" as t1
      where t1."founded" = $1::smallint and (t1."name", t1."id") > ($2::text, $3::bigint)
      order by t1."name", t1."id"
      limit 3)
    union all
    (select t1."id"
      from "public"."act" as t1
      where t1."founded" < $1::smallint
      order by t1."founded" desc, t1."name", t1."id"
      limit 3)
    union all
    (select t1."id"
      from "public"."act" as t1
      where t1."founded" is null
      order by t1."name", t1."id"
      limit 3)) as t1
  limit 3) as t1;
