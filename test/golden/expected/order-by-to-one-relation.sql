select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"cursor":"', pg_catalog.replace(pg_catalog.encode(pg_catalog.convert_to(pg_catalog.concat('[', coalesce(pg_catalog.to_json(t1."(order 1)"), 'null'),
                ', ', t1."id"::int4,
                ']'), 'UTF8'), 'base64'), E'\n', ''),
        '","node":{"name":', pg_catalog.to_json(t1."name"),
        '}}'), ','), ''), ']}')
from (select t1.*
  from (
    (select t1."name", t1."id", t2."name" as "(order 1)"
      from "public"."festival" as t1
      left join "public"."act" as t2 on t2."id" = t1."opener_id"
      where t2."name" is not null
      order by t2."name" desc, t1."id"
      limit 10)
    union all
    (select t1."name", t1."id", t2."name" as "(order 1)"
      from "public"."festival" as t1
      left join "public"."act" as t2 on t2."id" = t1."opener_id"
      where t2."name" is null
      order by t1."id"
      limit 10)) as t1
  limit 10) as t1;
