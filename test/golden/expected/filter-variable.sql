select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"id":"', t1."id"::int8, '"}}'), ','), ''), ']}')
from (select t1."id"
  from "public"."act" as t1
  where (t1."genre" = $1::public.genre and t1."id" = any($2::bigint[]) and (t1."fee" is null or t1."tags" @> $3::text[]))
  order by t1."id"
  limit 30) as t1;
