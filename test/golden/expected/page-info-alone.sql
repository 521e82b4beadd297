select pg_catalog.concat('{"pageInfo":{"hasNextPage":', (count(*) > 2)::text, '}}')
from (select row_number() over (order by t1."id") as "(number)"
  from "public"."act" as t1
  order by t1."id" limit 3) as t1;
