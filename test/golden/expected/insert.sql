insert into "public"."stage" as t1 ("id", "festival_id", "name")
values ($1::integer, $2::integer, $3::character varying(20))
returning '{"affectedCount":1}';
