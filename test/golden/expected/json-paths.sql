select (select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"cursor":"', pg_catalog.replace(pg_catalog.encode(pg_catalog.convert_to(pg_catalog.concat('[', coalesce(pg_catalog.to_json(t1."(order 1)"), 'null'),
                  ', ', coalesce(pg_catalog.to_json(t1."(order 2)"), 'null'),
                  ', ', t1."id"::int8,
                  ']'), 'UTF8'), 'base64'), E'\n', ''),
          '","node":{"id":"', t1."id"::int8,
          '"}}'), ','), ''),
    '],"groups":', (select pg_catalog.concat('[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"key":{', $1::text, coalesce(pg_catalog.to_json(pg_catalog.to_jsonb(t3."key 1")::text), 'null'), $2::text, coalesce(pg_catalog.to_json(pg_catalog.to_jsonb(t3."key 2")::text), 'null'),
              '},"count":', t3."value 1",
              '}'), ','), ''), ']')
      from (select (case when pg_catalog.jsonb_typeof((t2."rider" #> $3::text[])::jsonb) = 'boolean' then (t2."rider" #> $3::text[])::jsonb::bool end) as "key 1", (case when (t2."rider" #>> $4::text[]) ~ '^(?!0000)[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$' then case when pg_catalog.substr((t2."rider" #>> $4::text[]), 9, 2)::int4 <= pg_catalog.date_part('day', (pg_catalog.left((t2."rider" #>> $4::text[]), 7) || '-01')::date + interval '1 month - 1 day') then (t2."rider" #>> $4::text[])::date end end) as "key 2", pg_catalog.count(*) as "value 1"
        from "public"."act" as t2
        group by 1, 2
        order by 1, 2
        limit 30) as t3),
    '}')
  from (select t1."id", (case when pg_catalog.jsonb_typeof((t1."rider" #> $5::text[])::jsonb) = 'number' then (t1."rider" #> $5::text[])::jsonb::numeric end) as "(order 1)", (t1."rider" #>> $6::text[]) as "(order 2)"
    from "public"."act" as t1
    where (((case when pg_catalog.jsonb_typeof((t1."rider" #> $5::text[])::jsonb) = 'number' then (t1."rider" #> $5::text[])::jsonb::numeric end) = $7::numeric and (t1."rider" #>> $6::text[]) >= $8::text and ((t1."rider" #>> $6::text[]), t1."id") > ($8::text, $9::bigint)) or ((case when pg_catalog.jsonb_typeof((t1."rider" #> $5::text[])::jsonb) = 'number' then (t1."rider" #> $5::text[])::jsonb::numeric end) = $7::numeric and (t1."rider" #>> $6::text[]) is null) or ((case when pg_catalog.jsonb_typeof((t1."rider" #> $5::text[])::jsonb) = 'number' then (t1."rider" #> $5::text[])::jsonb::numeric end) < $7::numeric) or ((case when pg_catalog.jsonb_typeof((t1."rider" #> $5::text[])::jsonb) = 'number' then (t1."rider" #> $5::text[])::jsonb::numeric end) is null))
    order by (case when pg_catalog.jsonb_typeof((t1."rider" #> $5::text[])::jsonb) = 'number' then (t1."rider" #> $5::text[])::jsonb::numeric end) desc nulls last, (t1."rider" #>> $6::text[]), t1."id"
    limit 2) as t1),
(select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"cursor":"', pg_catalog.replace(pg_catalog.encode(pg_catalog.convert_to(pg_catalog.concat('[', coalesce(pg_catalog.to_json(t4."(order 1)"), 'null'),
                  ', ', t4."id"::int4,
                  ']'), 'UTF8'), 'base64'), E'\n', ''),
          '","node":{"id":', t4."id"::int4,
          '}}'), ','), ''), ']}')
  from (select t4."id", (t4."price")."amount" as "(order 1)"
    from "public"."price_tag" as t4
    order by (t4."price")."amount", t4."id"
    limit 30) as t4);
