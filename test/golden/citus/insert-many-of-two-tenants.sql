with changed as (insert into "shop"."project" as t1 ("tenant_id", "id", "name")
  values ($1::integer, $2::bigint, $3::text), ($4::integer, $5::bigint, $6::text), ($7::integer, $8::bigint, $9::text), ($10::integer, $11::bigint, $12::text)
  returning t1."tenant_id", t1."id", t1."name", t1."tenant_id" as "(shard)")
select pg_catalog.concat('{"affectedCount":', pg_catalog.count(*),
  ',"records":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"tenantId":', t1."tenant_id"::int4,
        ',"id":"', t1."id"::int8,
        '","name":', pg_catalog.to_json(t1."name"),
        '}'), ',' order by t1."(number)"), ''),
  ']}')
from (select w.*, i.n as "(number)"
  from (select r.*, pg_catalog.row_number() over (partition by r."(shard)" order by r."(place)") as "(rank)"
    from (select r.*, pg_catalog.row_number() over () as "(place)"
      from changed as r) as r) as w
  left join (select r.*, pg_catalog.row_number() over (partition by r.shard order by r.n) as "(rank)"
    from (select v.column1 as n, v.column2 as shard
      from (values (1, $1::integer), (2, $4::integer), (3, $7::integer), (4, $10::integer)) as v) as r) as i on i.shard = w."(shard)" and i."(rank)" = w."(rank)") as t1;
