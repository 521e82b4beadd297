select coalesce(pg_catalog.to_json("public"."tag_list"("words" => $1::text[])), 'null');
