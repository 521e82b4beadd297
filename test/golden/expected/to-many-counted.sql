select (select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"musicianCollection":{"edges":[', (select coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"fullName":', pg_catalog.to_json(t2."full_name"), '}}'), ','), '')
            from (select t2."full_name"
              from "public"."musician" as t2
              where t2."act_id" = t1."id"
              order by t2."id"
              limit 30) as t2), ']}}}'), ','), ''), ']}')
  from (select t1."id"
    from "public"."act" as t1
    order by t1."id"
    limit 3) as t1),
(select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"acts":', (select pg_catalog.concat('{"totalCount":', pg_catalog.count(*), '}')
            from "public"."_acts"(t3."(row)") as t4), '}}'), ','), ''), ']}')
  from (select t3.*::"public"."festival" as "(row)"
    from "public"."festival" as t3
    order by t3."id"
    limit 30) as t3);
