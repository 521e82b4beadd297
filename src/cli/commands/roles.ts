/** `rowgraph roles`: prints the SQL that creates the database roles, as `dev` runs it. */
import { randomBytes } from 'node:crypto';
import { Command, Option } from 'commander';
import { identifier, literal, render } from '../../sql/sql.ts';
import { addSettings, type CommandSettings, type Environment, readSettings } from '../config.ts';
import { choiceParser } from './with-graph.ts';

const rolesSettings = { names: ['schemas', 'anonRole'], required: [], defaults: {} } as const satisfies CommandSettings<
  'schemas' | 'anonRole',
  never
>;

const passwordBytes = 24;

interface Flags extends Readonly<Record<string, string | undefined>> {
  readonly grants: Grants;
}

export function rolesCommand(environment: Environment): Command {
  const command = new Command('roles')
    .description('Print the SQL that creates the database roles; it is safe to run again')
    .addOption(
      new Option(
        '--grants <GRANTS>',
        'What the anonymous role and "authenticated" may do with tables; row level security restricts the rows',
      )
        .choices(grantChoices)
        .argParser(choiceParser('--grants', grantChoices))
        .default('none'),
    );
  return addSettings(command, rolesSettings).action(({ grants, ...flags }: Flags) => {
    const { schemas, anonRole } = readSettings(rolesSettings, flags, environment);
    process.stdout.write(roleStatements({ schemas, anonRole, grants, password: randomBytes(passwordBytes).toString('base64url') }));
  });
}

/** What clients' roles may do with tables: nothing until granted; only read; or everything, leaving it to row level security. */
const grantChoices = ['none', 'read', 'all'] as const;
type Grants = (typeof grantChoices)[number];

interface RoleOptions {
  readonly schemas: readonly string[];
  readonly anonRole: string;
  /** `all` is the convention of Supabase and pg_graphql. */
  readonly grants: Grants;
  /** The password of the login role; null for none, so that it cannot log in with one until it is set. */
  readonly password: string | null;
}

/** The script. The embedded database of `rowgraph dev` is set up with the same one. */
export function roleStatements({ schemas, anonRole, grants, password }: RoleOptions): string {
  const clientRoles = names([anonRole, 'authenticated']);
  const requestRoles = names([anonRole, 'authenticated', 'service_role']);
  return [
    head,
    createRole(anonRole, 'nologin noinherit', 'anonymous callers'),
    createRole('authenticated', 'nologin noinherit', 'authenticated callers'),
    createRole('service_role', 'nologin noinherit bypassrls', 'your own programs: they bypass row level security'),
    createLogin(password),
    `grant ${requestRoles} to authenticator;\n`,
    meanings[grants](clientRoles.replace(', ', ' and ')),
    ...schemas.map((schema) => grantSchema(nameOf(schema), grants, clientRoles, requestRoles)),
    tails[grants](clientRoles, schemas),
  ].join('\n');
}

const head = `-- The database roles of rowgraph, for PostgreSQL 14 to 18. Run this script as a superuser in the database to serve.
-- It is safe to run again: existing roles stay as they are, and no privilege is revoked.
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

function createLogin(password: string | null): string {
  const meaning = 'the role that rowgraph logs in as; it has no privileges of its own';
  if (password === null) return createRole('authenticator', 'login noinherit', meaning);
  return createRole(
    'authenticator',
    `login noinherit password ${render(literal(password)).text}`,
    `${meaning}. If it exists already, it keeps its password`,
  );
}

/** Explains the grants to the reader of the script. */
const meanings: Readonly<Record<Grants, (clientRoles: string) => string>> = {
  all: (
    roles,
  ) => `-- WARNING: this grants ${roles} every privilege on all tables, present and future. This is the convention of Supabase, and
-- only row level security protects rows: in a table WITHOUT row level security, anybody with the anonymous key can read, change and delete
-- every row. Enable it on each table (alter table <table> enable row level security) and write policies.
`,
  read: (roles) => `-- This allows ${roles} to read all tables, present and future. In a table without row level security, anybody with
-- the anonymous key can read every row.
`,
  none: (roles) => `-- This grants ${roles} only usage of the schemas: no table is accessible until you grant access to it.
`,
};

type Privileges = readonly (readonly [privilege: string, objects: string])[];

const everyPrivilege: Privileges = ['tables', 'routines', 'sequences'].map((objects) => ['all', objects]);

/** The privileges on tables, routines and sequences that clients' roles get. */
const clientGrants: Readonly<Record<Grants, Privileges>> = { all: everyPrivilege, read: [['select', 'tables']], none: [] };

function grantSchema(schema: string, grants: Grants, clientRoles: string, requestRoles: string): string {
  const grantees =
    grants === 'all'
      ? [[requestRoles, clientGrants.all] as const]
      : [[clientRoles, clientGrants[grants]] as const, ['service_role', everyPrivilege] as const];
  const lines = grantees.flatMap(([roles, privileges]) =>
    privileges.flatMap(([privilege, objects]) => [
      `grant ${privilege} on all ${objects} in schema ${schema} to ${roles};`,
      `alter default privileges in schema ${schema} grant ${privilege} on ${objects} to ${roles};`,
    ]),
  );
  return `-- Schema ${schema}: existing objects, and future ones created by the role that runs this.
-- (If another role creates the tables, add "for role <name>" after "alter default privileges".)
create schema if not exists ${schema};
grant usage on schema ${schema} to ${requestRoles};
${lines.join('\n')}
`;
}

const routineNote = `
-- PostgreSQL lets everybody execute a new function. To change that for functions that this role creates in future:
--   alter default privileges revoke execute on routines from public;
`;

const tails: Readonly<Record<Grants, (clientRoles: string, schemas: readonly string[]) => string>> = {
  all: (_, schemas) => listOpenTables(schemas),
  read: (_, schemas) => listOpenTables(schemas) + routineNote,
  none: (roles) => `-- Grant access table by table, each with its policies:
--   alter table <table> enable row level security;
--   create policy <name> on <table> for select using (<condition>);
--   grant select on <table> to ${roles};
${routineNote}`,
};

/** Lists a warning for existing tables that the script has opened to clients. */
function listOpenTables(schemas: readonly string[]): string {
  const list = schemas.map((schema) => render(literal(schema)).text).join(', ');
  return `-- Lists the tables that are open now because they have no row level security.
do $$ declare open_table regclass; begin
  for open_table in
    select c.oid from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname in (${list}) and c.relkind in ('r', 'p') and not c.relrowsecurity order by 1
  loop
    raise warning 'table % has no row level security: its rows are open', open_table;
  end loop;
end $$;
`;
}

function names(roles: readonly string[]): string {
  return roles.map(nameOf).join(', ');
}

const plainNames = new Set(['public', 'anon', 'authenticated', 'service_role']);

/** Plain names are written without quotes; others are quoted. */
function nameOf(name: string): string {
  return plainNames.has(name) ? name : render(identifier(name)).text;
}
