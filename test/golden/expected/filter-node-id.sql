select pg_catalog.concat('{"edges":[', coalesce((select pg_catalog.concat('{"node":{"id":"', t1."id"::int8, '"}}')
      from "public"."act" as t1
      where t1."id" = $1::bigint), ''), ']}');
