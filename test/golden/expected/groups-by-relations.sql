select (select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"name":', pg_catalog.to_json(t1."name"), $1::text,
          '{"groups":', (select pg_catalog.concat('[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"key":{"mentor":{"act":{"genre":', coalesce(case t4."key 1" when 'drum and bass' then '"DRUM_AND_BASS"' else pg_catalog.to_json(t4."key 1") end, 'null'),
                    ',"name":null}}},"count":', t4."value 1",
                    '}'), ','), ''), ']')
            from (select t6."genre" as "key 1", pg_catalog.count(*) as "value 1"
              from "public"."musician" as t3
              left join "public"."musician" as t5 on t5."id" = t3."mentor_id"
              left join "public"."act" as t6 on t6."id" = t5."act_id"
              where t3."act_id" = t1."id"
              group by 1
              order by 1
              limit 30) as t4),
          '}}}'), ','), ''), ']}')
  from (select t1."name", t1."id"
    from "public"."act" as t1
    order by t1."id"
    limit 5) as t1),
(select pg_catalog.concat('{"totalCount":', (select pg_catalog.count(*)
      from "public"."festival" as t8),
    ',"groups":', (select pg_catalog.concat('[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"key":{"opener":{"fee":', coalesce('"' || pg_catalog.trim_scale(t10."key 1")::numeric::text || '"', 'null'),
              ',"name":', coalesce(pg_catalog.to_json(t10."key 2"), 'null'),
              '}},"countDistinct":{"name":', t10."value 1",
              '}}'), ','), ''), ']')
      from (select case when t11."fee" < 0 then t11."fee" - pg_catalog.mod(t11."fee", $2::numeric) - case when pg_catalog.mod(t11."fee", $2::numeric) = 0 then 0 else $2::numeric end else t11."fee" - pg_catalog.mod(t11."fee", $2::numeric) end as "key 1", t11."name" as "key 2", pg_catalog.count(distinct t9."name") as "value 1"
        from "public"."festival" as t9
        left join "public"."act" as t11 on t11."id" = t9."opener_id"
        group by 1, 2
        order by 1, 2
        limit 30) as t10),
    '}'));
