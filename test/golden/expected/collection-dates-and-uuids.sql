select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"id":"', t1."id"::uuid,
        '","fullName":', pg_catalog.to_json(t1."full_name"),
        ',"born":', coalesce(pg_catalog.to_json(t1."born"), 'null'),
        ',"joined":', pg_catalog.to_json(t1."joined"),
        '}}'), ','), ''), ']}')
from (select t1."id", t1."full_name", t1."born", t1."joined"
  from "public"."musician" as t1
  order by t1."id"
  limit 30) as t1;
