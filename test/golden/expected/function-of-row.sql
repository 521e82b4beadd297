select coalesce((select '{"name":' || pg_catalog.to_json(t1."name")::text
      || ',"founder":' || coalesce((select '{"fullName":' || pg_catalog.to_json(t2."full_name")::text || '}'
        from "public"."_founder"(t1.*) as t2
        where not (t2.* is null) limit 1), 'null')
      || '}'
    from "public"."best_act"() as t1
    where not (t1.* is null) limit 1), 'null');
