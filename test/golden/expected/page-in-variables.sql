select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"id":"', t1."id"::int8, '"}}'), ','), ''), ']}')
from (select t1."id"
  from "public"."act" as t1
  where t1."id" > $1::bigint
  order by t1."id"
  limit $2::int8) as t1;
