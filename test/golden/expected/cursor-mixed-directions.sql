select '{"edges":[' || coalesce(string_agg('{"node":{"id":' || ('"' || t1."id"::text || '"') || '}}', ',') filter (where t1."(number)" <= 2), '')
  || '],"pageInfo":{"hasNextPage":' || (count(*) > 2)::text
  || '}}'
from (with range1 as materialized (select t1."id", t1."founded", t1."name"
    from "public"."act" as t1
    where t1."founded" = $1::smallint and (t1."name", t1."id") > ($2::text, $3::bigint)
    order by t1."name", t1."id" limit 3),
  range2 as materialized (select t1."id", t1."founded", t1."name"
    from "public"."act" as t1
    where t1."founded" < $1::smallint and (select count(*) from range1) < 3
    order by t1."founded" desc, t1."name", t1."id" limit 3),
  range3 as materialized (select t1."id", t1."founded", t1."name"
    from "public"."act" as t1
    where t1."founded" is null and (select count(*) from range1) + (select count(*) from range2) < 3
    order by t1."name", t1."id" limit 3)
  select t1.*, row_number() over (order by t1."founded" desc nulls last, t1."name", t1."id") as "(number)" from (select * from range1 union all select * from range2 union all select * from range3) as t1
  order by t1."founded" desc nulls last, t1."name", t1."id" limit 3) as t1;
