insert into "public"."gear" as t1 ("id", "specs", "parts")
values ($1::integer, $2::jsonb, $3::jsonb)
returning pg_catalog.concat('{"records":[{"id":', t1."id"::int4, '}]}');

insert into "public"."log_entry" as t1 ("id", "tag")
values ($1::integer, $2::public.price_tag)
returning pg_catalog.concat('{"records":[{"tag":', coalesce((select pg_catalog.concat('{"price":', coalesce((select pg_catalog.concat('{"amount":', coalesce('"' || t3."amount"::numeric::text || '"', 'null'), '}')
            from (select (t2."price").*) as t3
            where t2."price" is distinct from null), 'null'), '}')
      from (select (t1."tag").*) as t2
      where t1."tag" is distinct from null), 'null'), '}]}');
