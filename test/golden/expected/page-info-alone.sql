select pg_catalog.concat('{"pageInfo":{"hasNextPage":', (pg_catalog.count(*) > 2)::text, '}}')
from (select pg_catalog.row_number() over (order by t1."id") as "(number)"
  from "public"."act" as t1
  order by t1."id"
  limit 3) as t1;
