/**
 * The SQL that creates the database roles: those that requests run as, and the login role that may become each of them. In: the exposed
 * schemas and the name of the anonymous role; out: a script that may be run again and takes nothing away.
 */
import { identifier, literal, render } from '../sql/sql.ts';

export interface RoleOptions {
  readonly schemas: readonly string[];
  readonly anonRole: string;
}

/** The script. The embedded database of `rowgraph dev` begins with the same. */
export function roleStatements({ schemas, anonRole }: RoleOptions): string {
  const requestRoles = [anonRole, 'authenticated', 'service_role'];
  return [
    head,
    createRole(anonRole, 'nologin noinherit', 'callers that are not logged in'),
    createRole('authenticated', 'nologin noinherit', 'callers that are logged in'),
    createRole('service_role', 'nologin noinherit bypassrls', 'your own programs: they bypass row level security'),
    createRole('authenticator', "login noinherit password 'CHANGE-ME'", 'who rowgraph logs in as; by itself it may do nothing'),
    `grant ${names(requestRoles)} to authenticator;\n`,
    ...schemas.map((schema) => grants(schema, requestRoles)),
    tail(names([anonRole, 'authenticated'])),
  ].join('\n');
}

const head = `-- The database roles of rowgraph, for PostgreSQL 14 to 18. To be run in the database that is served, as its superuser.
-- It may be run again: roles that exist stay as they are, and no privilege is taken away.
`;

function createRole(name: string, options: string, meaning: string): string {
  return `-- ${meaning}
do $$ begin
  if not exists (select from pg_roles where rolname = ${render(literal(name)).text}) then
    create role ${nameOf(name)} ${options};
  end if;
end $$;
`;
}

function grants(schema: string, requestRoles: readonly string[]): string {
  const name = nameOf(schema);
  const everybody = names(requestRoles);
  return `-- Schema ${name}: what the role that runs this makes from now on belongs to all three, so switch on row level security for each table.
-- (Where another role makes the tables, add "for role <name>" after "alter default privileges".)
create schema if not exists ${name};
grant usage on schema ${name} to ${everybody};
alter default privileges in schema ${name} grant all on tables to ${everybody};
alter default privileges in schema ${name} grant all on routines to ${everybody};
alter default privileges in schema ${name} grant all on sequences to ${everybody};
grant all on all tables in schema ${name} to service_role;
grant all on all routines in schema ${name} to service_role;
grant all on all sequences in schema ${name} to service_role;
`;
}

function tail(clientRoles: string): string {
  return `-- Tables that exist already stay closed to ${clientRoles}. Open them one by one, each with its policies:
--   alter table <table> enable row level security;
--   create policy <name> on <table> for select using (<condition>);
--   grant select on <table> to ${clientRoles};
`;
}

function names(roles: readonly string[]): string {
  return roles.map(nameOf).join(', ');
}

const plainNames = new Set(['public', 'anon', 'authenticated', 'service_role']);

/** A name as a person would write it, if it is one of ours; quoted if it is the user's. */
function nameOf(name: string): string {
  return plainNames.has(name) ? name : render(identifier(name)).text;
}
