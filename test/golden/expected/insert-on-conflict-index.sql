with changed as (insert into "public"."act" as t1 ("id", "name", "genre")
  values ($1::bigint, $2::text, $3::public.genre), ($4::bigint, $5::text, $6::public.genre)
  on conflict (lower(name), founded) where touring do nothing
  returning 1)
select pg_catalog.concat('{"affectedCount":', pg_catalog.count(*), '}')
from changed as t1;
