/**
 * The roles and grants that the conformance vectors and most tests start from. `rolesSql` is run once per server; `grantsSql` once per
 * database, before its tables are created. Both must be run by the superuser `postgres`.
 */

/** The three roles of requests, and the login role, which may switch to each of them and has no privileges of its own. */
export const rolesSql = `
  create role anon nologin noinherit;
  create role authenticated nologin noinherit;
  create role service_role nologin noinherit bypassrls;
  create role authenticator login noinherit;
  grant anon, authenticated, service_role to authenticator;
`;

/** The three roles get all privileges on whatever the superuser creates in the schema public. */
export const grantsSql = `
  grant usage on schema public to anon, authenticated, service_role;
  alter default privileges in schema public grant all on tables to anon, authenticated, service_role;
  alter default privileges in schema public grant all on routines to anon, authenticated, service_role;
  alter default privileges in schema public grant all on sequences to anon, authenticated, service_role;
`;
