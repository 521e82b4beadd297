select '{"edges":[' || coalesce(string_agg('{"node":{"id":' || ('"' || t1."id" || '"') || '}}', ','), '') || ']}'
from (select t1."id"
  from "public"."act" as t1
  where (t1."touring" = $1::boolean and (t1."genre" = $2::public.genre or t1."fee" < $3::numeric(10,2)) and not (t1."name" = $4::text))
  order by t1."id" limit 30) as t1;
