/**
 * The one table of what the doctor can find: each code with its severity, its meaning and what to do about it. `docs/doctor.md` lists the
 * same table; a test holds them equal.
 */
import type { ExclusionCause } from '../model/model.ts';

/** `error`: dangerous, or nothing works; `warning`: hardly what was meant; `info`: good to know. */
export type Severity = 'error' | 'warning' | 'info';

interface CodeEntry {
  readonly severity: Severity;
  readonly meaning: string;
  readonly remedy: string;
}

/** Why something is not in the API, by the cause that the model names. */
export const exclusionCodes = {
  'missing-schema': {
    severity: 'warning',
    meaning: 'An exposed schema does not exist.',
    remedy: 'Create it, or take it out of the setting `schemas`.',
  },
  'not-granted': {
    severity: 'info',
    meaning: 'Not in the API, as the role lacks a privilege. A schema stands for all that is in it, a table for its columns.',
    remedy: 'If the role should have it: grant the privilege.',
  },
  'owner-left-out': {
    severity: 'info',
    meaning: 'Not in the API, as the table that it belongs to, leads to or returns is not.',
    remedy: 'See what is said of that table, or expose its schema.',
  },
  'no-columns': {
    severity: 'warning',
    meaning: 'A table has no columns, so that there is nothing to select.',
    remedy: 'Add some.',
  },
  'no-key': {
    severity: 'warning',
    meaning: 'A table without primary key, or a view without declared key: its rows cannot be told apart.',
    remedy: 'Add a primary key, or declare the key in the comment: `@graphql({"primary_key_columns": ["..."]})`.',
  },
  'illegal-name': {
    severity: 'warning',
    meaning: 'GraphQL cannot carry the name: it allows letters, digits and underscores, and no two underscores in front.',
    remedy: 'Rename it, or name it in the comment: `@graphql({"name": "..."})`, for enum values `{"mappings": {"label": "NAME"}}`.',
  },
  'name-taken': {
    severity: 'warning',
    meaning: 'Something else has the same name in GraphQL already.',
    remedy: 'Rename one of the two, or name it in the comment: `@graphql({"name": "..."})`.',
  },
  'unsupported-type': {
    severity: 'warning',
    meaning: 'A column, an argument or a result has a type that GraphQL has no counterpart for.',
    remedy: 'Use another type, or show the parts of the value by a computed field or a view.',
  },
  'not-callable': {
    severity: 'info',
    meaning:
      'A function that no field can call: a trigger function, an aggregate or window function, one with unnamed arguments, one of the platform.',
    remedy: 'None is needed; to have a field, call it from an ordinary function.',
  },
  'unusable-directive': {
    severity: 'warning',
    meaning: 'A key that a comment directive declares is incomplete, or names columns that do not exist.',
    remedy: 'Correct the directive in the comment.',
  },
} as const satisfies Record<ExclusionCause, CodeEntry>;

export const findingCodes = {
  'broken-directive': {
    severity: 'warning',
    meaning: 'A comment directive cannot be read, and is ignored.',
    remedy: 'Correct the comment: what stands between `@graphql(` and `)` has to be a JSON object.',
  },
  'role-bypasses-rls': {
    severity: 'error',
    meaning: 'The role is a superuser or bypasses row level security, so that no policy holds for it. Not said of `service_role`.',
    remedy: 'Let requests run as an ordinary role.',
  },
  'writable-without-rls': {
    severity: 'error',
    meaning: 'The role may insert, update or delete any row of a table, as row level security is off.',
    remedy: 'Enable row level security and write policies, or revoke the privileges.',
  },
  'policies-without-rls': {
    severity: 'error',
    meaning: 'A table has policies, but row level security is off, so that they do nothing.',
    remedy: 'Enable row level security.',
  },
  'owner-bypasses-rls': {
    severity: 'error',
    meaning: 'The role owns a table with row level security, or is a member of its owner: policies do not hold for owners.',
    remedy: 'Give the table to another role, or force row level security for its owner too.',
  },
  'view-bypasses-rls': {
    severity: 'error',
    meaning: 'A view shows the role rows that row level security would hide from it, as the view reads with the rights of its owner.',
    remedy:
      'Make it a security invoker view (PostgreSQL 15 and later), or revoke the privileges on it. A materialized view can only be revoked.',
  },
  'definer-search-path': {
    severity: 'error',
    meaning: 'A `security definer` function that the role may execute looks names up in the search path of its caller.',
    remedy: 'Fix the search path of the function, `pg_temp` last.',
  },
  'key-not-selectable': {
    severity: 'error',
    meaning: 'The role may select columns of a table, but not its key: every query for its rows fails.',
    remedy: 'Grant select on the columns of the key, or revoke the privileges.',
  },
  'open-definer-function': {
    severity: 'warning',
    meaning: 'The role may execute a function that runs with the rights of its owner (`security definer`).',
    remedy: 'If it does not have to be open to the role: revoke the privilege, or make it `security invoker`.',
  },
  'open-policy': {
    severity: 'warning',
    meaning: 'A policy lets the role write any row: its condition is `true`, and no restrictive policy stands beside it.',
    remedy: 'Give the policy a condition, or revoke the privilege.',
  },
  'may-create-objects': {
    severity: 'warning',
    meaning: 'The role may create objects in an exposed schema, and so add to the API and shadow what functions look up.',
    remedy: 'Revoke the privilege. PostgreSQL 14 grants it on `public` to everybody.',
  },
  'no-policy': {
    severity: 'warning',
    meaning: 'The role has privileges on a table with row level security, but no policy applies to it: it sees and writes no row.',
    remedy: 'Write a policy, or revoke the privileges to take the table out of the API of the role.',
  },
  'unindexed-foreign-key': {
    severity: 'warning',
    meaning: 'No index serves a foreign key: the relation from its target reads the whole table, and so does each delete there.',
    remedy: 'Create an index that begins with the columns of the key.',
  },
  'call-fails': {
    severity: 'warning',
    meaning: 'A procedure is a field, as it is in pg_graphql, but every call of it fails.',
    remedy: 'Make it a function, or revoke the right to execute it.',
  },
  'ignored-directive': {
    severity: 'warning',
    meaning: 'A comment directive, or a member of it, is ignored: it is misspelt, of the wrong type, or out of place.',
    remedy: 'Correct the comment, or remove the member.',
  },
  'write-only-column': {
    severity: 'info',
    meaning: 'The role may write a column that it may not select, so that it is missing from rows and filters.',
    remedy: 'If the role should read it: grant select on the column.',
  },
  'name-changed': {
    severity: 'info',
    meaning: 'Something has another name in the API than it would have, as that one is taken.',
    remedy: 'None is needed; to choose the name, rename one of the two, or name it in the comment: `@graphql({"name": "..."})`.',
  },
  'readable-without-rls': {
    severity: 'info',
    meaning: 'The role may select every row of a table, as row level security is off. It may not write any.',
    remedy: 'If not everything in it is public: enable row level security and write policies.',
  },
  'policy-calls-per-row': {
    severity: 'info',
    meaning: 'A policy calls `current_setting` or a function of `auth` for each row, although it gives the same for all.',
    remedy: 'Write `(select current_setting(...))`, which is called once for a statement.',
  },
  'extension-functions': {
    severity: 'info',
    meaning: 'Functions of an extension that are not in the API, as no field can call them or the role may not.',
    remedy: 'None is needed. A schema of its own for extensions keeps them apart.',
  },
  ...exclusionCodes,
} as const satisfies Record<string, CodeEntry>;

export type FindingCode = keyof typeof findingCodes;
