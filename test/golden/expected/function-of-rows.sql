select (select pg_catalog.concat('{"edges":[', coalesce(pg_catalog.string_agg(pg_catalog.concat('{"cursor":"', pg_catalog.replace(pg_catalog.encode(pg_catalog.convert_to(pg_catalog.concat('[', coalesce(pg_catalog.to_json(t1."name"), 'null'),
                  ', ', coalesce(t1."id"::int8::text, 'null'),
                  ']'), 'UTF8'), 'base64'), E'\n', ''),
          '","node":{"name":', coalesce(pg_catalog.to_json(t1."name"), 'null'),
          '}}'), ',') filter (where t1."(number)" <= 2 and t1."id" is not null), ''),
    '],"pageInfo":{"hasNextPage":', (pg_catalog.count(*) > 2)::text,
    '}}')
  from (select t1."name", t1."id", pg_catalog.row_number() over (order by t1."name", t1."id") as "(number)"
    from "public"."acts_tagged"("tag" => $1::text) as t1
    where t1."touring" = true
    order by t1."name", t1."id"
    limit 3) as t1);
