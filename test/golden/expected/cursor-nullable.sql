select '{"edges":[' || coalesce(string_agg('{"cursor":' || ('"' || replace(encode(convert_to('[' || coalesce(t1."founded"::text, 'null')
              || ', ' || t1."id"::text
              || ']', 'UTF8'), 'base64'), E'\n', '') || '"')
      || ',"node":{"founded":' || coalesce(t1."founded"::text, 'null')
      || '}}', ','), '') || ']}'
from (with range1 as materialized (select t1."founded", t1."id"
    from "public"."act" as t1
    where (t1."founded", t1."id") > ($1::smallint, $2::bigint)
    order by t1."founded", t1."id" limit 2),
  range2 as materialized (select t1."founded", t1."id"
    from "public"."act" as t1
    where t1."founded" is null and (select count(*) from range1) < 2
    order by t1."id" limit 2)
  select t1.* from (select * from range1 union all select * from range2) as t1
  order by t1."founded", t1."id" limit 2) as t1;
