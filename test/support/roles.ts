/**
 * The roles and grants that the conformance vectors, and most tests, start from. `rolesSql` is for a server, once; `grantsSql` for each
 * of its databases, before its tables are made. Both are to be run by the superuser `postgres`.
 */

/** The three roles of requests, and the login role that may become each of them and has no rights of its own. */
export const rolesSql = `
  create role anon nologin noinherit;
  create role authenticated nologin noinherit;
  create role service_role nologin noinherit bypassrls;
  create role authenticator login noinherit;
  grant anon, authenticated, service_role to authenticator;
`;

/** What the superuser makes in schema public belongs to all three as well. */
export const grantsSql = `
  grant usage on schema public to anon, authenticated, service_role;
  alter default privileges in schema public grant all on tables to anon, authenticated, service_role;
  alter default privileges in schema public grant all on routines to anon, authenticated, service_role;
  alter default privileges in schema public grant all on sequences to anon, authenticated, service_role;
`;
