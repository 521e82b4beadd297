select (select '{"edges":[' || coalesce(string_agg('{"cursor":' || ('"' || replace(encode(convert_to('[' || pg_catalog.to_json(t1."name")::text
                || ', ' || t1."id"::text
                || ']', 'UTF8'), 'base64'), E'\n', '') || '"')
        || ',"node":{"name":' || pg_catalog.to_json(t1."name")::text
        || '}}', ',') filter (where t1."(number)" <= 2), '')
    || '],"pageInfo":{"hasNextPage":' || (count(*) > 2)::text
    || '}}'
  from (select t1."name", t1."id", row_number() over (order by t1."name", t1."id") as "(number)"
    from "public"."acts_tagged"("tag" => $1::text) as t1
    where t1."touring" = true
    order by t1."name", t1."id" limit 3) as t1);
