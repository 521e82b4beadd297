select coalesce((select '{"nodeId":' || ('"' || replace(encode(convert_to('["public", "performance", ' || t1."stage_id"::text
              || ', ' || t1."slot"::text
              || ']', 'UTF8'), 'base64'), E'\n', '') || '"')
      || ',"act":' || coalesce((select '{"name":' || pg_catalog.to_json(t2."name")::text || '}'
        from "public"."act" as t2
        where t2."id" = t1."act_id"), 'null')
      || '}'
    from "public"."performance" as t1
    where t1."stage_id" = $1::integer and t1."slot" = $2::integer limit 1), 'null');
