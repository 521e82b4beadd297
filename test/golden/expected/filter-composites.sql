select (select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"id":', t1."id"::int4,
          ',"fixed":', coalesce((select pg_catalog.concat('{"currency":', coalesce(pg_catalog.to_json(t2."currency"), 'null'), '}')
              from (select (t1."fixed").*) as t2
              where t1."fixed" is distinct from null), 'null'),
          '}}'), ','), ''), ']}')
  from (select t1."id", t1."fixed"
    from "public"."price_tag" as t1
    where ((t1."price")."amount" < $1::numeric or exists (select 1
        from (select pg_catalog.unnest(t1."former") as "element") as t3
        where t3."element" is not distinct from null) or ((t1."former" is not null and not exists (select 1
            from (select pg_catalog.unnest(t1."former") as "element") as t4
            where ((t4."element")."amount" > $2::numeric) is not true)) and pg_catalog.cardinality(t1."former") < $3::integer))
    order by t1."id"
    limit 30) as t1),
coalesce('"' || "public"."in_euros"("price" => $4::public.price)::numeric::text || '"', 'null'),
coalesce('"' || "public"."in_euros"("price" => $5::public.price)::numeric::text || '"', 'null');
