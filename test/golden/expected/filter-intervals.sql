select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"id":', t1."id"::int4, '}}'), ','), ''),
  '],"aggregate":', (select pg_catalog.concat('{"sum":{"lasts":', coalesce(pg_catalog.to_json(pg_catalog.sum(t2."lasts")), 'null'),
      '},"avg":{"lasts":', coalesce(pg_catalog.to_json(pg_catalog.avg(t2."lasts")), 'null'),
      '}}')
    from "public"."slot" as t2
    where (t2."lasts" between $1::interval and $2::interval and t2."path" ~ $3::public.lquery and t2."host" <<= $4::inet)),
  '}')
from (select t1."id"
  from "public"."slot" as t1
  where (t1."lasts" between $5::interval and $6::interval and t1."path" ~ $3::public.lquery and t1."host" <<= $4::inet)
  order by t1."id"
  limit 30) as t1;
