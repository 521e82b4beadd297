select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"stageId":', t1."stage_id"::int4,
        ',"slot":', t1."slot"::int4,
        '}}'), ','), ''), ']}')
from (select t1."stage_id", t1."slot"
  from "public"."performance" as t1
  where (t1."stage_id", t1."slot") > ($1::integer, $2::integer)
  order by t1."stage_id", t1."slot"
  limit 2) as t1;
