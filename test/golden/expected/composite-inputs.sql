with changed as (insert into "public"."price_tag" as t1 ("id", "price", "former")
  values ($1::integer, $2::public.price, $3::public.price[]), ($4::integer, $5::public.price, default)
  returning t1."price")
select pg_catalog.concat('{"records":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"price":', coalesce((select pg_catalog.concat('{"amount":', coalesce('"' || t2."amount"::numeric::text || '"', 'null'), '}')
            from (select (t1."price").*) as t2
            where t1."price" is distinct from null), 'null'), '}'), ','), ''), ']}')
from changed as t1;

with changed as (update "public"."price_tag" as t1
  set "price" = $1::public.price, "fixed" = $2::public.price
  where (((t1."price")."amount" > $3::numeric and t1."price" is distinct from null) and exists (select 1
      from (select pg_catalog.unnest(t1."former") as "element") as t2
      where (t2."element")."currency" = $4::text))
  returning case when pg_catalog.set_config('rowgraph.rows', (coalesce('0' || pg_catalog.current_setting('rowgraph.rows', true), '0')::int4 + 1)::text, true)::int4 > $5::int4 then ('rowgraph: update-too-many: ' || pg_catalog.left(pg_catalog.current_setting('rowgraph.rows'), 0))::int4::text else '' end as "(counted)")
select pg_catalog.concat('{"affectedCount":', pg_catalog.count(*),
  '}', pg_catalog.set_config('rowgraph.rows', pg_catalog.left(pg_catalog.count(*)::text, 0), true))
from changed as t1;
