select '{"totalCount":' || count(*)::text || '}'
from "public"."act" as t1
where t1."touring" = true;
