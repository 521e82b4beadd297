select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"cursor":"', pg_catalog.replace(pg_catalog.encode(pg_catalog.convert_to(pg_catalog.concat('[', pg_catalog.to_json(t1."(order 1)"),
                ', ', t1."id"::int8,
                ', ', t1."tenant_id"::int4,
                ', ', t1."id"::int8,
                ']'), 'UTF8'), 'base64'), E'\n', ''),
        '","node":{"id":"', t1."id"::int8,
        '"}}'), ','), ''), ']}')
from (select t1."id", t1."tenant_id", t2."name" as "(order 1)"
  from "shop"."task" as t1
  join "shop"."project" as t2 on t2."tenant_id" = t1."tenant_id" and t2."id" = t1."project_id" and t2."tenant_id" = $1::integer
  where t1."tenant_id" = $1::integer
  order by t2."name", t1."id", t1."tenant_id"
  limit 8) as t1;
