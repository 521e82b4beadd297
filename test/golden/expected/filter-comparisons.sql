select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"id":"', t1."id"::int8, '"}}'), ','), ''), ']}')
from (select t1."id"
  from "public"."act" as t1
  where ((t1."id" > $1::bigint and t1."id" <= $2::bigint) and t1."name" <> $3::text and t1."founded" >= $4::smallint and t1."rating" < $5::double precision)
  order by t1."id"
  limit 30) as t1;
