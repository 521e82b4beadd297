select '{"edges":[' || coalesce((select '{"cursor":' || ('"' || replace(encode(convert_to('[' || t1."id"::text || ']', 'UTF8'), 'base64'), E'\n', '') || '"')
      || ',"node":{"name":' || pg_catalog.to_json(t1."name")::text
      || ',"musicianCollection":' || (select '{"edges":[' || coalesce((select '{"node":{"fullName":' || pg_catalog.to_json(t2."full_name")::text || '}}'
          from "public"."musician" as t2
          where t2."act_id" = t1."id" and t2."id" = $1::uuid), '') || ']}')
      || '}}'
    from "public"."act" as t1
    where (t1."touring" = true and t1."id" = $2::bigint)), '')
  || '],"totalCount":' || (select count(*)::text
  from "public"."act" as t3
  where (t3."touring" = true and t3."id" = $2::bigint))
  || '}';
