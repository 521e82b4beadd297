select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"id":', t1."id"::int4, '}}'), ','), ''), ']}')
from (select t1."id"
  from "public"."log_entry" as t1
  where ((t1."hosts" @> $1::inet[] and exists (select 1
        from pg_catalog.unnest(t1."hosts") as t2("element")
        where t2."element" <<= $2::inet)) and (exists (select 1
        from pg_catalog.unnest(t1."details") as t3("element")
        where t3."element" ? $3::text) and t1."details" && $4::jsonb[]) and (t1."spans" @> $5::int4range[] and (t1."spans" is not null and not exists (select 1
          from pg_catalog.unnest(t1."spans") as t4("element")
          where ((t4."element" @> $6::integer and pg_catalog.lower(t4."element") > $7::integer)) is not true))) and (exists (select 1
        from pg_catalog.unnest(t1."took") as t5("element")
        where t5."element" > $8::interval) and pg_catalog.cardinality(t1."took") = $9::integer))
  order by t1."id"
  limit 30) as t1;
