select pg_catalog.concat('{"totalCount":', (select coalesce((select least(c.reltuples, 2147483647)::pg_catalog.int8
        from pg_catalog.pg_class as c
        join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
        where n.nspname = 'public' and c.relname = 'act' and c.reltuples >= 0 and not pg_catalog.row_security_active(c.oid)), (select pg_catalog.count(*)
        from "public"."act" as t3))),
  ',"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"name":', pg_catalog.to_json(t1."name"), '}}'), ','), ''),
  ']}')
from (select t1."name"
  from "public"."act" as t1
  order by t1."id"
  limit 1) as t1;
