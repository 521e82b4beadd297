select coalesce('"' || "public"."ticket_total"("festival" => $1::integer, "from_price" => $2::numeric)::numeric::text || '"', 'null');
