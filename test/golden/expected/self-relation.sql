select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"fullName":', pg_catalog.to_json(t1."full_name"),
        ',"mentor":', coalesce((select pg_catalog.concat('{"fullName":', pg_catalog.to_json(t2."full_name"), '}')
            from "public"."musician" as t2
            where t2."id" = t1."mentor_id"), 'null'),
        ',"musicianCollection":{"edges":[', (select coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"fullName":', pg_catalog.to_json(t3."full_name"), '}}'), ','), '')
          from (select t3."full_name"
            from "public"."musician" as t3
            where t3."mentor_id" = t1."id"
            order by t3."id"
            limit 30) as t3),
        ']}}}'), ','), ''), ']}')
from (select t1."full_name", t1."mentor_id", t1."id"
  from "public"."musician" as t1
  order by t1."id"
  limit 30) as t1;
