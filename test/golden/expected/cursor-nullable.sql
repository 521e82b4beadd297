select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"cursor":"', pg_catalog.replace(pg_catalog.encode(pg_catalog.convert_to(pg_catalog.concat('[', coalesce(t1."founded"::int2::text, 'null'),
                ', ', t1."id"::int8,
                ']'), 'UTF8'), 'base64'), E'\n', ''),
        '","node":{"founded":', coalesce(t1."founded"::int2::text, 'null'),
        '}}'), ','), ''), ']}')
from (select t1.*
  from (
    (select t1."founded", t1."id"
      from "public"."act" as t1
      where (t1."founded", t1."id") > ($1::smallint, $2::bigint)
      order by t1."founded", t1."id"
      limit 2)
    union all
    (select t1."founded", t1."id"
      from "public"."act" as t1
      where t1."founded" is null
      order by t1."id"
      limit 2)) as t1
  limit 2) as t1;
