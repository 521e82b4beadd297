select '{"edges":[' || coalesce((select '{"node":{"id":' || ('"' || t1."id"::text || '"') || '}}'
    from "public"."act" as t1
    where t1."id" = $1::bigint), '') || ']}';
