select (select pg_catalog.concat('{"totalCount":', (select pg_catalog.count(*)
      from (select distinct on (t3."genre") t3."id", t3."name", t3."genre", t3."other_genres", t3."founded", t3."fee", t3."rating", t3."tags", t3."rider", t3."touring", t3.*::"public"."act" as "(row)"
        from "public"."act" as t3
        order by t3."genre", t3."rating" desc nulls last, t3."id") as t2),
    ',"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"cursor":"', pg_catalog.replace(pg_catalog.encode(pg_catalog.convert_to(pg_catalog.concat('[', pg_catalog.to_json(t1."genre"), ']'), 'UTF8'), 'base64'), E'\n', ''),
          '","node":{"name":', pg_catalog.to_json(t1."name"),
          ',"billing":', coalesce(pg_catalog.to_json("public"."_billing"(t1."(row)")), 'null'),
          '}}'), ',') filter (where t1."(number)" <= 3), ''),
    '],"pageInfo":{"hasNextPage":', (pg_catalog.count(*) > 3)::text,
    '}}')
  from (select t1."name", t1."genre", t1."(row)"::"public"."act" as "(row)", pg_catalog.row_number() over (order by t1."genre") as "(number)"
    from (select distinct on (t4."genre") t4."id", t4."name", t4."genre", t4."other_genres", t4."founded", t4."fee", t4."rating", t4."tags", t4."rider", t4."touring", t4.*::"public"."act" as "(row)"
      from "public"."act" as t4
      order by t4."genre", t4."rating" desc nulls last, t4."id") as t1
    order by t1."genre"
    limit 4) as t1),
(select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"fullName":', pg_catalog.to_json(t5."full_name"),
          ',"act":', coalesce((select pg_catalog.concat('{"name":', pg_catalog.to_json(t6."name"), '}')
              from "public"."act" as t6
              where t6."id" = t5."act_id"), 'null'),
          '}}'), ','), ''), ']}')
  from (select t5.*
    from (
      (select t5."full_name", t5."act_id"
        from (select distinct on (t7."mentor_id") t7."id", t7."full_name", t7."born", t7."joined", t7."act_id", t7."mentor_id"
          from "public"."musician" as t7
          join "public"."act" as t8 on t8."id" = t7."act_id"
          order by t7."mentor_id", t8."name", t7."id") as t5
        where t5."mentor_id" > $1::uuid
        order by t5."mentor_id"
        limit 2)
      union all
      (select t5."full_name", t5."act_id"
        from (select distinct on (t7."mentor_id") t7."id", t7."full_name", t7."born", t7."joined", t7."act_id", t7."mentor_id"
          from "public"."musician" as t7
          join "public"."act" as t8 on t8."id" = t7."act_id"
          order by t7."mentor_id", t8."name", t7."id") as t5
        where t5."mentor_id" is null
        limit 2)) as t5
    limit 2) as t5);
