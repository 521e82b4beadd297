select '{"edges":[' || coalesce(string_agg('{"node":{"stageId":' || t1."stage_id"::text
      || ',"slot":' || t1."slot"::text
      || '}}', ','), '') || ']}'
from (select t1."stage_id", t1."slot"
  from "public"."performance" as t1
  where (t1."stage_id", t1."slot") > ($1::integer, $2::integer)
  order by t1."stage_id", t1."slot" limit 2) as t1;
