select pg_catalog.concat('{"totalCount":', pg_catalog.count(*), '}')
from "public"."act" as t1
where t1."touring" = true;
