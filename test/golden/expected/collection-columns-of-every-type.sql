select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"nodeId":"', pg_catalog.replace(pg_catalog.encode(pg_catalog.convert_to(pg_catalog.concat('["public", "act", ', t1."id"::int8, ']'), 'UTF8'), 'base64'), E'\n', ''),
        '","id":"', t1."id"::int8,
        '","name":', pg_catalog.to_json(t1."name"),
        ',"genre":', case t1."genre" when 'drum and bass' then '"DRUM_AND_BASS"' else pg_catalog.to_json(t1."genre") end,
        ',"otherGenres":', coalesce(case when t1."other_genres" is not null then (select '[' || coalesce(pg_catalog.string_agg(coalesce(case "item" when 'drum and bass' then '"DRUM_AND_BASS"' else pg_catalog.to_json("item") end, 'null')::text, ',' order by "n"), '') || ']'
            from pg_catalog.unnest(t1."other_genres") with ordinality as items("item", "n")) end, 'null'),
        ',"founded":', coalesce(t1."founded"::int2::text, 'null'),
        ',"fee":', coalesce('"' || t1."fee"::numeric::text || '"', 'null'),
        ',"rating":', coalesce(pg_catalog.to_json(t1."rating" + '0'::float8), 'null'),
        ',"tags":', pg_catalog.to_json(t1."tags"),
        ',"rider":', coalesce(pg_catalog.to_json(t1."rider"::text), 'null'),
        ',"touring":', t1."touring"::bool::text,
        '}}'), ','), ''), ']}')
from (select t1."id", t1."name", t1."genre", t1."other_genres", t1."founded", t1."fee", t1."rating", t1."tags", t1."rider", t1."touring"
  from "public"."act" as t1
  order by t1."id"
  limit 30) as t1;
