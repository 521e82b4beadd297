select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"rider":', coalesce(pg_catalog.to_json(t1."rider"::text), 'null'), $1::text, coalesce(pg_catalog.to_json((t1."rider" #> $2::text[])::text), 'null'), $3::text, coalesce(pg_catalog.to_json((t1."rider" #> $4::text[])::text), 'null'),
        '}}'), ','), ''), ']}')
from (select t1."rider"
  from "public"."act" as t1
  order by t1."id"
  limit 30) as t1;
