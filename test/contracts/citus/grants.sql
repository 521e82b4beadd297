grant usage on schema shop to app_user, app_admin, locked;
grant all on all tables in schema shop to app_user, app_admin, locked;
grant all on all sequences in schema shop to app_user, app_admin, locked;
