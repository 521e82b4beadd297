select (select '[' || coalesce(pg_catalog.string_agg(coalesce(t1.value::int4::text, 'null')::text, ','), '') || ']'
  from (select *
    from "public"."fee_steps"() as t1("value")
    limit 3
    offset 1) as t1),
(select '[' || coalesce(pg_catalog.string_agg(coalesce(t2.value::int4::text, 'null')::text, ','), '') || ']'
  from (select *
    from "public"."fee_steps"() as t2("value")
    limit 30) as t2),
(select '[' || coalesce(pg_catalog.string_agg(pg_catalog.concat('{"name":', coalesce(pg_catalog.to_json(t3."name"), 'null'),
        ',"rating":', coalesce(pg_catalog.to_json(t3."rating" + '0'::float8), 'null'),
        ',"best":', coalesce((select pg_catalog.concat('{"name":', coalesce(pg_catalog.to_json(t4."name"), 'null'), '}')
            from (select (t3."best").*) as t4
            where t3."best" is distinct from null), 'null'),
        '}')::text, ','), '') || ']'
  from (select *
    from "public"."act_ratings"() as t3
    limit 2) as t3),
coalesce((select pg_catalog.concat('{"count":', coalesce('"' || t5."count"::int8::text || '"', 'null'),
      ',"best":', coalesce(pg_catalog.to_json(t5."best" + '0'::float8), 'null'),
      '}')
    from "public"."act_summary"() as t5
    where not (t5.* is null)
    limit 1), 'null'),
coalesce((select pg_catalog.concat('{"amount":', coalesce('"' || t6."amount"::numeric::text || '"', 'null'),
      ',"currency":', coalesce(pg_catalog.to_json(t6."currency"), 'null'),
      '}')
    from "public"."a_price"() as t6
    where not (t6.* is null)
    limit 1), 'null');
