/** What SQL written for Supabase takes for granted. The rest of the platform is missing (`missing-parts.ts`). */
import { literal, render } from '../../sql/sql.ts';

/** Roles of the platform to which dumps grant privileges. */
const roleNames = /\b(anon|authenticated|service_role|dashboard_user|supabase(_\w+)?_admin|supabase_read_only_user)\b/g;

/** Uses of the schema `extensions`: as a qualifier, or named as a schema. */
const extensionsSchema = /\bextensions\.|\bschema extensions\b|search_path\b[^;]*\bextensions\b/;

/** Extensions that Supabase has without `create extension`, recognized by calls of their functions. */
const builtInExtensions: readonly (readonly [name: string, call: RegExp])[] = [
  ['pgcrypto', /\b(crypt|gen_salt|gen_random_bytes|digest|hmac|pgp_\w+) ?\(/],
  ['uuid-ossp', /\buuid_(generate_v\w+|ns_\w+|nil) ?\(/],
];

/**
 * The tables of the schema `auth` that projects refer to and seed. Here users get a default id, so that they are easy to create in psql.
 */
const authTables = `create table auth.users (
  instance_id uuid, id uuid primary key default gen_random_uuid(), aud varchar(255), role varchar(255), email varchar(255),
  encrypted_password varchar(255), email_confirmed_at timestamptz, invited_at timestamptz, confirmation_token varchar(255),
  confirmation_sent_at timestamptz, recovery_token varchar(255), recovery_sent_at timestamptz, email_change_token_new varchar(255),
  email_change varchar(255), email_change_sent_at timestamptz, last_sign_in_at timestamptz, raw_app_meta_data jsonb, raw_user_meta_data jsonb,
  is_super_admin boolean, created_at timestamptz default now(), updated_at timestamptz default now(), phone text unique,
  phone_confirmed_at timestamptz, phone_change text default '', phone_change_token varchar(255) default '', phone_change_sent_at timestamptz,
  confirmed_at timestamptz generated always as (least(email_confirmed_at, phone_confirmed_at)) stored,
  email_change_token_current varchar(255) default '', email_change_confirm_status smallint default 0, banned_until timestamptz,
  reauthentication_token varchar(255) default '', reauthentication_sent_at timestamptz, is_sso_user boolean not null default false,
  deleted_at timestamptz, is_anonymous boolean not null default false
);
create unique index users_email_partial_key on auth.users (email) where not is_sso_user;
create table auth.identities (
  id uuid primary key default gen_random_uuid(), provider_id text not null, user_id uuid not null references auth.users on delete cascade,
  identity_data jsonb not null, provider text not null, last_sign_in_at timestamptz, created_at timestamptz default now(),
  updated_at timestamptz default now(), email text generated always as (lower(identity_data ->> 'email')) stored,
  unique (provider_id, provider)
);`;

const claims = "nullif(current_setting('request.jwt.claims', true), '')::jsonb";

/** What the functions of the schema `auth` return: the claims of the caller. */
const authFunctions: readonly (readonly [name: string, type: string, expression: string])[] = [
  ['uid', 'uuid', `(${claims} ->> 'sub')::uuid`],
  ['role', 'text', `${claims} ->> 'role'`],
  ['email', 'text', `${claims} ->> 'email'`],
  ['jwt', 'jsonb', claims],
];

/** The SQL to run before the files: it creates what they use but do not create themselves. */
export function supabaseStatements(source: string): string {
  const text = simplify(source);
  const roles = [...new Set(text.match(roleNames))].map(roleStatement);
  const platform = [...authStatements(text), ...publicationStatements(text)];
  const extensions = platform.length > 0 || extensionsSchema.test(text) ? extensionStatements(text) : [];
  return [...roles, ...extensions, ...platform].join('\n');
}

/** Names of the extensions that these statements create. */
export function supabaseExtensions(source: string): string[] {
  return [...supabaseStatements(source).matchAll(/create extension "(.+?)"/g)].map(([, name = '']) => name);
}

/** SQL in a uniform spelling: lower case, no quotes around names, single spaces and none around dots. */
function simplify(source: string): string {
  return source
    .replaceAll('"', '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ?\. ?/g, '.')
    .toLowerCase();
}

function authStatements(text: string): string[] {
  const usesTables = /\bauth\.(users|identities)\b/.test(text) && !/\bcreate table (if not exists )?auth\./.test(text);
  const functions = authFunctions.filter(([name]) => {
    return new RegExp(`\\bauth\\.${name} ?\\(`).test(text) && !new RegExp(`\\bcreate (or replace )?function auth\\.${name}\\b`).test(text);
  });
  const objects = [
    ...(usesTables ? [authTables] : []),
    ...functions.map(
      ([name, type, value]) => `create function auth.${name}() returns ${type} stable language sql as $$ select ${value} $$;`,
    ),
  ];
  return objects.length === 0 ? [] : ['create schema if not exists auth;', 'grant usage on schema auth to public;', ...objects];
}

/** Files that create the publication may drop it first, so it must exist. */
function publicationStatements(text: string): string[] {
  const isWanted = /\bsupabase_realtime\b/.test(text) && !/\bcreate publication supabase_realtime\b/.test(text);
  return isWanted || /\bdrop publication supabase_realtime\b/.test(text) ? ['create publication supabase_realtime;'] : [];
}

/** The schema, and in it those of a Supabase project's initial extensions that are used. */
function extensionStatements(text: string): string[] {
  const used = builtInExtensions.filter(
    ([name, call]) =>
      call.test(text) && !text.includes(`create extension if not exists ${name}`) && !text.includes(`create extension ${name}`),
  );
  return [
    'create schema if not exists extensions;',
    'grant usage on schema extensions to public;',
    ...used.map(([name]) => `create extension "${name}" with schema extensions;`),
  ];
}

function roleStatement(name: string): string {
  return `do $$ begin if to_regrole(${render(literal(name)).text}) is null then create role ${name} nologin; end if; end $$;`;
}

/** What a failed statement needs. */
export interface MissingPart {
  /** `extension "pg_net"`, `schema "storage", which belongs to the Supabase platform`. */
  readonly description: string;
  /** Whether the statement can be skipped: the API then lacks nothing, and nobody has more rights than with it. */
  readonly isDispensable: boolean;
}

/** Schemas of the platform. `supabase.ts` creates part of `auth`. */
const schemas = [
  ...['auth', 'storage', 'realtime', 'cron', 'net', 'vault', 'pgsodium', 'pgmq', 'graphql', 'graphql_public'],
  ...['supabase_functions', 'supabase_migrations', '_realtime', '_analytics'],
].join('|');
const qualified = new RegExp(`\\b(${schemas})"?\\s*\\.`);
const missing = new RegExp(`^(?:schema "|relation "|type "|function )(${schemas})(?:"|\\..+) does not exist$`);
const missingExtension = /^extension "(.+)" (is not available|does not exist)$/;

/** Such a statement affects only the platform, its rows, or rights that it would have granted. */
const dispensable =
  /^(insert|update|delete|select|grant|revoke|comment|alter|drop|create\s+(policy|extension|(or\s+replace\s+)?trigger))\b/i;
const restrictive = /^create\s+policy\b[^;]*\bas\s+restrictive\b/i;

/** Whether a statement refers to the platform, and so may fail because a part of it is missing. */
export function mentionsPlatform(statement: string): boolean {
  return qualified.test(statement);
}

/** What a failed statement is missing; null if it failed for another reason. */
export function findMissingPart(statement: string, message: string): MissingPart | null {
  const extension = missingExtension.exec(message)?.[1];
  if (extension !== undefined) return { description: `extension "${extension}"`, isDispensable: true };
  const schema = missing.exec(message)?.[1];
  if (schema === undefined) return null;
  const isDispensable = dispensable.test(statement) && !restrictive.test(statement);
  // `auth` exists, so name the missing object in it.
  const part = schema === 'auth' ? message.replace(/ does not exist$/, '') : `schema "${schema}"`;
  return { description: `${part}, which belongs to the Supabase platform`, isDispensable };
}
