with changed as (update "public"."gear" as t1
  set "specs" = (select case when pg_catalog.jsonb_typeof(j.v) = 'object' then j.v || j.n || case when pg_catalog.jsonb_typeof((j.v -> 'size')) = 'object' and pg_catalog.jsonb_typeof((j.n -> 'size')) = 'object' then pg_catalog.jsonb_build_object('size', (j.v -> 'size') || (j.n -> 'size')) else '{}' end else j.n end from (select t1."specs"::jsonb as v, $1::jsonb as n offset 0) as j), "parts" = (select case when pg_catalog.jsonb_typeof(j.v) = 'array' then j.v || j.n else j.n end from (select t1."parts"::jsonb as v, $2::jsonb as n offset 0) as j)
  where t1."id" = $3::integer
  returning '{"affectedCount":1}' as "response")
select coalesce((select "response"
    from changed), '{"affectedCount":0}');
