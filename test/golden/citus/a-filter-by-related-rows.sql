select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"id":"', t1."id"::int8, '"}}'), ','), ''), ']}')
from (select t1."id"
  from "shop"."project" as t1
  where (t1."tenant_id" = $1::integer and exists (select 1
      from "shop"."task" as t2
      where t2."tenant_id" = t1."tenant_id" and t2."project_id" = t1."id" and t2."tenant_id" = $1::integer and t2."points" > $2::integer))
  order by t1."tenant_id", t1."id"
  limit 30) as t1;
