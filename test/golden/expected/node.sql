select coalesce((select '{"nodeId":' || ('"' || replace(encode(convert_to('["public", "festival", ' || t1."id"::text || ']', 'UTF8'), 'base64'), E'\n', '') || '"')
      || ',"name":' || pg_catalog.to_json(t1."name")::text
      || '}'
    from "public"."festival" as t1
    where t1."id" = $1::integer limit 1), 'null');
