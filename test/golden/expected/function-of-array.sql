select coalesce(to_json("public"."tag_list"("words" => $1::text[]))::text, 'null');
