select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"id":"', t1."id"::int8,
        '","name":', t1."(json 1)", $1::text, t1."(json 1)",
        ',"fee":', t1."(json 2)", $2::text, t1."(json 2)",
        '}}'), ','), ''), ']}')
from (select t1.*, pg_catalog.to_json(t1."name") as "(json 1)", coalesce('"' || t1."fee"::numeric::text || '"', 'null') as "(json 2)"
  from (select t1."id", t1."name", t1."fee"
    from "public"."act" as t1
    order by t1."name", t1."id"
    limit 2) as t1
  offset 0) as t1;
