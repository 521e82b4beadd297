select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"specs":', coalesce((select pg_catalog.concat('{"maker":', coalesce(pg_catalog.to_json((t2.value ->> 'maker')), 'null'),
              ',"made":', coalesce(pg_catalog.to_json((case when (t2.value ->> 'made') ~ '^(?!0000)[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$' then case when pg_catalog.substr((t2.value ->> 'made'), 9, 2)::int4 <= pg_catalog.date_part('day', (pg_catalog.left((t2.value ->> 'made'), 7) || '-01')::date + interval '1 month - 1 day') then (t2.value ->> 'made')::date end end)), 'null'),
              ',"tags":', coalesce(pg_catalog.to_json((case when pg_catalog.jsonb_typeof((t2.value -> 'tags')) = 'array' then array(select (e.v #>> '{}') from pg_catalog.jsonb_array_elements((t2.value -> 'tags')) with ordinality as e(v, n) order by e.n)::text[] end)), 'null'),
              ',"size":', coalesce((select pg_catalog.concat('{"unit":', coalesce(pg_catalog.to_json((t3.value ->> 'unit')), 'null'), '}')
                  from (select (case when pg_catalog.jsonb_typeof((t2.value -> 'size')) = 'object' then (t2.value -> 'size') end) as value offset 0) as t3
                  where pg_catalog.jsonb_typeof(t3.value) = 'object'), 'null'),
              '}')
            from (select (case when pg_catalog.jsonb_typeof(t1."specs") = 'object' then t1."specs" end) as value offset 0) as t2
            where pg_catalog.jsonb_typeof(t2.value) = 'object'), 'null'),
        ',"parts":', coalesce((select (select '[' || coalesce(pg_catalog.string_agg(coalesce((select pg_catalog.concat('{"no":', coalesce((case when pg_catalog.jsonb_typeof((t6.value -> 'no')) = 'number' then case when (t6.value -> 'no')::numeric between -2147483648 and 2147483647 and (t6.value -> 'no')::numeric = pg_catalog.trunc((t6.value -> 'no')::numeric) then (t6.value -> 'no')::numeric::int4 end end)::int4::text, 'null'), '}')
                      from (select t5.element as value offset 0) as t6
                      where pg_catalog.jsonb_typeof(t6.value) = 'object'), 'null'), ','), '') || ']'
              from (select pg_catalog.jsonb_array_elements(t4.value) as element) as t5)
            from (select (case when pg_catalog.jsonb_typeof(t1."parts") = 'array' then t1."parts" end) as value offset 0) as t4
            where t4.value is not null), 'null'),
        ',"specsJSON":', coalesce(pg_catalog.to_json((t1."specs" #> $1::text[])::text), 'null'),
        '}}'), ','), ''), ']}')
from (select t1."specs", t1."parts"
  from "public"."gear" as t1
  where (((t1."specs" ->> 'maker') = $2::text and (case when pg_catalog.jsonb_typeof((t1."specs" -> 'watts')) = 'number' then case when (t1."specs" -> 'watts')::numeric between -2147483648 and 2147483647 and (t1."specs" -> 'watts')::numeric = pg_catalog.trunc((t1."specs" -> 'watts')::numeric) then (t1."specs" -> 'watts')::numeric::int4 end end) > $3::integer and (((t1."specs" -> 'size') ->> 'unit') is null and (case when pg_catalog.jsonb_typeof((t1."specs" -> 'size')) = 'object' then (t1."specs" -> 'size') end) is distinct from null)) and (exists (select 1
        from (select pg_catalog.jsonb_array_elements((case when pg_catalog.jsonb_typeof(t1."parts") = 'array' then t1."parts" end)) as "element") as t7
        where (case when pg_catalog.jsonb_typeof((t7."element" -> 'no')) = 'number' then case when (t7."element" -> 'no')::numeric between -2147483648 and 2147483647 and (t7."element" -> 'no')::numeric = pg_catalog.trunc((t7."element" -> 'no')::numeric) then (t7."element" -> 'no')::numeric::int4 end end) = $4::integer) and pg_catalog.jsonb_array_length((case when pg_catalog.jsonb_typeof(t1."parts") = 'array' then t1."parts" end)) < $5::integer) and t1."specs" ? $6::text)
  order by ((t1."specs" -> 'size') ->> 'unit'), t1."id"
  limit 30) as t1;
