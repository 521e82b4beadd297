set citus.multi_shard_modify_mode to 'sequential';
grant usage on schema shop to app_user, locked;
grant all on all tables in schema shop to app_user, locked;
grant all on all sequences in schema shop to app_user, locked;
