/**
 * The codes of the doctor's findings, each with its severity, meaning and remedy. A test keeps the table in `docs/diagnose.md` equal to
 * this one.
 */

import type { TableKind } from '../model/model.ts';
import type { Exclusion, ExclusionCause } from '../model/report.ts';

/** `error`: dangerous, or nothing works; `warning`: probably unintended; `info`: good to know. */
export type Severity = 'error' | 'warning' | 'info';

interface CodeEntry {
  readonly severity: Severity;
  readonly meaning: string;
  readonly remedy: string;
}

/** Why something is not in the API, by the cause in the model. */
export const exclusionCodes = {
  'missing-schema': {
    severity: 'warning',
    meaning: 'An exposed schema does not exist.',
    remedy: 'Create it, or remove it from the setting `schemas`.',
  },
  'not-granted': {
    severity: 'info',
    meaning: 'Not in the API because the role lacks a privilege. A schema stands for everything in it, a table for its columns.',
    remedy: 'If the role should have access, grant the privilege.',
  },
  'type-out-of-reach': {
    severity: 'warning',
    meaning:
      'A column can be read, but is left out of inputs, filters or orders, because the role lacks a privilege on the schema or the operators of its type.',
    remedy: 'Grant the privilege.',
  },
  'owner-left-out': {
    severity: 'info',
    meaning: 'Not in the API because its table, or the table that it refers to or returns, is not.',
    remedy: 'See the finding for that table, or expose its schema.',
  },
  'no-columns': {
    severity: 'warning',
    meaning: 'A table has no columns, so there is nothing to select.',
    remedy: 'Add columns.',
  },
  'no-key': {
    severity: 'warning',
    meaning: 'A table has no primary key, or a view none that is declared or can be inferred.',
    remedy:
      'Add a primary key, or declare the key in the comment: `@graphql({"primary_key_columns": ["..."]})`. If a unique index covers columns that are NOT NULL, the finding names them.',
  },
  'illegal-name': {
    severity: 'warning',
    meaning:
      'The name is not valid in GraphQL, which allows letters, digits and underscores, without a leading digit or two leading underscores.',
    remedy:
      'Rename it, or choose another name in its comment: `@graphql({"name": "..."})`, for enum values `{"mappings": {"label": "NAME"}}`.',
  },
  'name-taken': {
    severity: 'warning',
    meaning: 'Something else already has the same name in GraphQL.',
    remedy: 'Rename one of the two, or choose another name in its comment: `@graphql({"name": "..."})`.',
  },
  'unsupported-type': {
    severity: 'warning',
    meaning: 'A column, an argument or a result has a type without a GraphQL counterpart.',
    remedy: 'Use another type, or expose the parts of the value with a computed field or a view.',
  },
  'not-callable': {
    severity: 'info',
    meaning: 'No field can call a trigger, aggregate, window or platform function, or one with unnamed arguments.',
    remedy: 'To expose it, call it from an ordinary function.',
  },
  'unusable-directive': {
    severity: 'warning',
    meaning: 'A key declared by a comment directive is incomplete, or names columns that do not exist.',
    remedy: 'Correct the directive in the comment.',
  },
} as const satisfies Record<ExclusionCause, CodeEntry>;

export const findingCodes = {
  'broken-directive': {
    severity: 'warning',
    meaning: 'A comment directive cannot be parsed and is ignored.',
    remedy: 'Correct the comment: the text between `@graphql(` and `)` must be a JSON object.',
  },
  'role-bypasses-rls': {
    severity: 'error',
    meaning: 'No policy applies to the role, because it is a superuser or bypasses row level security. Not reported for `service_role`.',
    remedy: 'Run requests as an ordinary role.',
  },
  'writable-without-rls': {
    severity: 'error',
    meaning: 'The role can insert, update or delete any row of a table because row level security is off.',
    remedy: 'Enable row level security and write policies, or revoke the privileges.',
  },
  'policies-without-rls': {
    severity: 'error',
    meaning: 'Policies of a table have no effect, because row level security is off.',
    remedy: 'Enable row level security.',
  },
  'owner-bypasses-rls': {
    severity: 'error',
    meaning: 'Policies of a table do not apply to the role, because it owns the table or is a member of its owner.',
    remedy: 'Give the table to another role, or force row level security for its owner.',
  },
  'view-bypasses-rls': {
    severity: 'error',
    meaning: 'A view shows rows that row level security would hide, because it reads with the privileges of its owner.',
    remedy:
      'Make it a security invoker view (PostgreSQL 15 and later), or revoke the privileges on it. For a materialized view, revoking is the only option.',
  },
  'definer-search-path': {
    severity: 'error',
    meaning: 'A `security definer` function looks up names in the search path of its caller.',
    remedy: 'Set the search path of the function, with `pg_temp` last.',
  },
  'immutable-reads-claims': {
    severity: 'error',
    meaning:
      'A function is labelled immutable, but may read the claims of the caller. Requests that use it are slow, because PostgreSQL has to plan each anew.',
    remedy: 'Label it stable. If an index or a generated column uses it, let its result depend on its arguments alone.',
  },
  'role-without-login': {
    severity: 'error',
    meaning: 'Citus connects to its nodes as the role of the request, which cannot log in, so requests on distributed tables fail.',
    remedy: 'Give the role LOGIN, and let the nodes accept its connections.',
  },
  'misses-shards': {
    severity: 'error',
    meaning: 'A function in SQL that returns a set finds no rows of distributed tables, so rowgraph refuses to call it.',
    remedy: 'Write it in PL/pgSQL, or declare it volatile.',
  },
  'key-not-selectable': {
    severity: 'error',
    meaning: 'The role can select columns of a table but not its key, so every query for its rows fails.',
    remedy: 'Grant select on the key columns, or revoke the privileges.',
  },
  'open-definer-function': {
    severity: 'warning',
    meaning: 'The role can execute a `security definer` function, which runs with the privileges of its owner.',
    remedy: 'Unless the role needs it, revoke the privilege, or make the function `security invoker`.',
  },
  'open-policy': {
    severity: 'warning',
    meaning: 'A policy with the condition `true` lets the role write any row.',
    remedy: 'Give the policy a condition, or revoke the privilege.',
  },
  'may-create-objects': {
    severity: 'warning',
    meaning: 'The role can create objects in a schema that the API uses, and so add to it or shadow names that functions look up.',
    remedy: 'Revoke the privilege. PostgreSQL 14 grants it on `public` to everybody.',
  },
  'no-policy': {
    severity: 'warning',
    meaning: 'The role has privileges on a table with row level security, but can read and write no row, because no policy applies to it.',
    remedy: 'Write a policy, or revoke the privileges to remove the table from the API of the role.',
  },
  'unindexed-foreign-key': {
    severity: 'warning',
    meaning: 'No index supports a foreign key, so following it from its target, or deleting there, reads the whole table.',
    remedy: 'Create an index that begins with the key columns.',
  },
  'unindexed-search': {
    severity: 'warning',
    meaning: 'No index supports the full-text search of a table, so each search reads the whole table.',
    remedy: 'Create a GIN index on the `tsvector`, or on the expression of the columns.',
  },
  'unindexed-distance': {
    severity: 'warning',
    meaning: 'No index supports the distances of vectors, points or places, so each `nearest` computes those of all rows.',
    remedy:
      'Create an index: HNSW or IVFFlat for vectors, GiST for points and places. Some ten thousand vectors are fast enough without one.',
  },
  'call-fails': {
    severity: 'warning',
    meaning: 'A procedure is a field, as in pg_graphql, but every call fails.',
    remedy: 'Make it a function, or revoke the privilege to execute it.',
  },
  'write-fails': {
    severity: 'warning',
    meaning: 'A mutation is in the API, as in pg_graphql, but PostgreSQL refuses it because of a rule on the table.',
    remedy: 'Replace the rule with a trigger, or revoke the privilege.',
  },
  'key-not-inherited': {
    severity: 'warning',
    meaning:
      'A primary key does not cover the rows of tables that inherit from the table. Rows may have the same `nodeId`: pages lose rows, and writes by key change all of them.',
    remedy: 'Give all of them keys from one sequence; or expose a view, `select ... from only parent`; or revoke the privileges.',
  },
  'ignored-directive': {
    severity: 'warning',
    meaning: 'A comment directive, or a member of it, is ignored because it is misspelled, has the wrong type, or does not apply here.',
    remedy: 'Correct the comment, or remove the member.',
  },
  'unset-setting': {
    severity: 'warning',
    meaning: 'A policy, function, default or view reads a setting that nobody sets, or a header that SQL does not get.',
    remedy:
      'Read claims from `request.jwt.claims`. For settings of a request, see `requestSettings` and `requestHeaders`. Give others a value: `alter role … set`, `alter database … set`.',
  },
  'write-only-column': {
    severity: 'info',
    meaning: 'The role can write a column but not select it, so the column is missing from rows and filters.',
    remedy: 'If the role should read it, grant select on the column.',
  },
  'read-only-column': {
    severity: 'info',
    meaning: 'A column of a view is in inputs, as in pg_graphql, but PostgreSQL refuses values for it because the view computes it.',
    remedy: 'Leave it out of inputs, or write it in an `INSTEAD OF` trigger on the view.',
  },
  'table-placement': {
    severity: 'info',
    meaning: 'Citus distributes the table, keeps all of it on every node, or has it on the coordinator.',
    remedy: 'Nothing is required.',
  },
  'addition-gave-way': {
    severity: 'info',
    meaning: 'A part of an addition is left out because the table already uses its name.',
    remedy: 'Choose another name for the relation or the column in a comment: `@graphql({"name": "..."})`.',
  },
  'inferred-key': {
    severity: 'info',
    meaning: 'The key of a view, or its foreign keys, are inferred from its definition.',
    remedy: 'To choose others, declare them in the comment: `@graphql({"primary_key_columns": ["..."], "foreign_keys": [...]})`.',
  },
  'name-changed': {
    severity: 'info',
    meaning: 'Something has a different name in the API, because its own is taken or not valid in GraphQL.',
    remedy: 'To choose the name, set it in the comment: `@graphql({"name": "..."})`.',
  },
  'readable-without-rls': {
    severity: 'info',
    meaning: 'The role can select every row of a table, but write none, because row level security is off.',
    remedy: 'Unless everything in it is public, enable row level security and write policies.',
  },
  'unindexed-similarity': {
    severity: 'info',
    meaning: 'No index supports the similarity of the texts of a table, so each `nearest` by one of them reads the whole table.',
    remedy: 'If texts are found by similarity, create GiST indexes of their trigrams.',
  },
  'policy-calls-per-row': {
    severity: 'info',
    meaning: 'A policy calls `current_setting` or a function of `auth` for each row.',
    remedy: 'Write `(select current_setting(...))`, which is evaluated once per statement.',
  },
  'live-unannounced': {
    severity: 'info',
    meaning: 'Answers of live queries on it change without any table changing: with the clock, a foreign server, system catalogs.',
    remedy: 'Set `--live-refresh`, or how often to refresh them in a comment: `@graphql({"live": {"refresh": 5}})`.',
  },
  'extension-functions': {
    severity: 'info',
    meaning: 'Functions of an extension are not in the API.',
    remedy: 'Nothing is required. To keep them apart, install extensions in a separate schema.',
  },
  'missing-search-path': {
    severity: 'info',
    meaning: 'A schema of the setting `extraSearchPath` does not exist, so nothing is found in it.',
    remedy: 'Create it, or remove it from the setting.',
  },
  'replica-unused': {
    severity: 'warning',
    meaning: 'A server of the setting `replicaUrl` gets no queries.',
    remedy: 'The finding has the reason. The primary itself is one, if it is listed for failovers.',
  },
  'replica-timeline': {
    severity: 'info',
    meaning:
      'The login role does not see which timeline a replica receives, so after a promotion it gets no queries for up to `checkpoint_timeout`.',
    remedy: '`grant pg_read_all_stats to` the login role.',
  },
  ...exclusionCodes,
} as const satisfies Record<string, CodeEntry>;

export type FindingCode = keyof typeof findingCodes;

/** The findings about the exposed schemas as one role sees them. */
export interface DoctorReport {
  readonly role: string;
  readonly schemas: readonly string[];
  readonly summary: Readonly<Record<Severity, number>>;
  /** Errors, then warnings, then infos; each sorted by code, kind and name. */
  readonly findings: readonly Finding[];
}

export interface Finding {
  readonly severity: Severity;
  readonly code: FindingCode;
  readonly object: FindingObject;
  /** Qualified name: `public.account.balance`, `public.total(integer)`. */
  readonly name: string;
  readonly message: string;
  /** SQL that fixes it; null if the fix needs a decision. */
  readonly remedy: string | null;
  /** What else is missing from the API because of it: `column public.account.id`. */
  readonly contains: readonly string[];
  /** Partitions, or their parts, with the same finding: `table public.sale_2020`. Absent if there are none. */
  readonly partitions?: readonly string[];
}

export type FindingObject =
  | Exclusion['object']
  | TableKind
  | 'role'
  | 'policy'
  | 'constraint'
  | 'index'
  | 'trigger'
  | 'extension'
  | 'replica';

export function finding(
  code: FindingCode,
  object: FindingObject,
  name: string,
  message: string,
  more: { readonly remedy?: string | null; readonly contains?: readonly string[] } = {},
): Finding {
  const { remedy = null, contains = [] } = more;
  return { severity: findingCodes[code].severity, code, object, name, message, remedy, contains };
}

const severities: readonly Severity[] = ['error', 'warning', 'info'];

export function compareFindings(one: Finding, other: Finding): number {
  const bySeverity = severities.indexOf(one.severity) - severities.indexOf(other.severity);
  return bySeverity || compareText(one.code, other.code) || compareText(one.object, other.object) || compareText(one.name, other.name);
}

/** Compares by code units, so that the order is the same on every machine. */
function compareText(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}
