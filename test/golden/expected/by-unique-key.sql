select coalesce((select pg_catalog.concat('{"id":"', t1."id"::int8,
      '","genre":', case t1."genre" when 'drum and bass' then '"DRUM_AND_BASS"' else pg_catalog.to_json(t1."genre") end,
      '}')
    from "public"."act" as t1
    where t1."name" = $1::text
    limit 1), 'null'),
coalesce((select pg_catalog.concat('{"used":', t2."used"::int4, '}')
    from "public"."pass" as t2
    where t2."holder" = $2::text
    limit 1), 'null');
