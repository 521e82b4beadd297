select pg_catalog.concat('{"totalCount":', count(*), '}')
from "public"."act" as t1
where t1."touring" = true;
