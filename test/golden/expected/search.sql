select (select pg_catalog.concat('{"totalCount":', (select pg_catalog.count(*)
      from "public"."song" as t2
      where (t2."words" operator(pg_catalog.@@) pg_catalog.websearch_to_tsquery('pg_catalog.english'::pg_catalog.regconfig, $1::text) and t2."act_id" = $2::bigint)),
    ',"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"cursor":"', pg_catalog.replace(pg_catalog.encode(pg_catalog.convert_to(pg_catalog.concat('[', pg_catalog.to_jsonb(t1."(order 1)"),
                  ', ', t1."id"::int4,
                  ']'), 'UTF8'), 'base64'), E'\n', ''),
          '","node":{"title":', pg_catalog.to_json(t1."title"),
          ',"searchRank":', pg_catalog.to_json(pg_catalog.ts_rank(t1."words", pg_catalog.querytree(pg_catalog.websearch_to_tsquery('pg_catalog.english'::pg_catalog.regconfig, $1::text))::pg_catalog.tsquery) + '0'::float4),
          ',"searchSnippet":', coalesce(pg_catalog.to_json(pg_catalog.replace(pg_catalog.replace(pg_catalog.replace(pg_catalog.replace(pg_catalog.replace(pg_catalog.replace(pg_catalog.replace(pg_catalog.ts_headline('pg_catalog.english'::pg_catalog.regconfig, pg_catalog.translate(t1."lyrics"::text collate pg_catalog."C", E'\x01\x02', ''), pg_catalog.websearch_to_tsquery('pg_catalog.english'::pg_catalog.regconfig, $1::text), pg_catalog.concat(E'StartSel="\x01", StopSel="\x02", MaxWords=', 35, ', MinWords=', least(15, 35 - 1), ', ShortWord=0')), '&', '&amp;'), '<', '&lt;'), '>', '&gt;'), '"', '&quot;'), '''', '&#39;'), E'\x01', '<b>'), E'\x02', '</b>'))::text, 'null'),
          '}}'), ',') filter (where t1."(number)" <= 5), ''),
    '],"pageInfo":{"hasNextPage":', (pg_catalog.count(*) > 5)::text,
    '}}')
  from (select t1."title", t1."words", t1."lyrics", t1."id", pg_catalog.ts_rank(t1."words", pg_catalog.querytree(pg_catalog.websearch_to_tsquery('pg_catalog.english'::pg_catalog.regconfig, $1::text))::pg_catalog.tsquery) as "(order 1)", pg_catalog.row_number() over (order by pg_catalog.ts_rank(t1."words", pg_catalog.querytree(pg_catalog.websearch_to_tsquery('pg_catalog.english'::pg_catalog.regconfig, $1::text))::pg_catalog.tsquery) desc, t1."id") as "(number)"
    from "public"."song" as t1
    where (t1."words" operator(pg_catalog.@@) pg_catalog.websearch_to_tsquery('pg_catalog.english'::pg_catalog.regconfig, $1::text) and t1."act_id" = $2::bigint)
    order by pg_catalog.ts_rank(t1."words", pg_catalog.querytree(pg_catalog.websearch_to_tsquery('pg_catalog.english'::pg_catalog.regconfig, $1::text))::pg_catalog.tsquery) desc, t1."id"
    limit 6) as t1),
(select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"node":{"id":', t3."id"::int4,
          ',"searchSnippet":', coalesce(pg_catalog.to_json(pg_catalog.replace(pg_catalog.replace(pg_catalog.replace(pg_catalog.replace(pg_catalog.replace(pg_catalog.replace(pg_catalog.replace(pg_catalog.ts_headline('pg_catalog.english'::pg_catalog.regconfig, pg_catalog.translate(t3."headline"::text collate pg_catalog."C", E'\x01\x02', ''), (pg_catalog.to_tsquery('pg_catalog.english'::pg_catalog.regconfig, $3::text) operator(pg_catalog.||) pg_catalog.to_tsquery('pg_catalog.simple'::pg_catalog.regconfig, $3::text)), pg_catalog.concat(E'StartSel="\x01", StopSel="\x02", MaxWords=', greatest(10, 2), ', MinWords=', least(15, greatest(10, 2) - 1), ', ShortWord=0')), '&', '&amp;'), '<', '&lt;'), '>', '&gt;'), '"', '&quot;'), '''', '&#39;'), E'\x01', $4::text), E'\x02', $5::text))::text, 'null'),
          '}}'), ','), ''), ']}')
  from (select t3."id", t3."headline"
    from "public"."story" as t3
    where (pg_catalog.setweight(pg_catalog.to_tsvector('pg_catalog.english'::pg_catalog.regconfig, coalesce(t3."headline"::text, '')), 'A') operator(pg_catalog.||) pg_catalog.to_tsvector('pg_catalog.english'::pg_catalog.regconfig, coalesce(t3."body"::text, ''))) operator(pg_catalog.@@) (pg_catalog.to_tsquery('pg_catalog.english'::pg_catalog.regconfig, $3::text) operator(pg_catalog.||) pg_catalog.to_tsquery('pg_catalog.simple'::pg_catalog.regconfig, $3::text))
    order by t3."id"
    limit 30) as t3);
