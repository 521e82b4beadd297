/** What is not in a model, and why; what has another name; and what was inferred. */
import type { Model, Table, TableKind } from './model.ts';

/** A model with a report of what is not in it, and why. */
export interface ReportedModel extends Model {
  /** What is in the exposed schemas but not in this role's API, with the reason. */
  readonly exclusions: readonly Exclusion[];
  /** What has a different GraphQL name because its own is taken. */
  readonly renamings: readonly Renaming[];
  /** Foreign keys inferred from view definitions. Each is a relation of both its tables. */
  readonly inferredKeys: readonly InferredKey[];
}

/** A foreign key from or to a view. Columns have their PostgreSQL names. */
export interface InferredKey {
  /** The oid of the referencing table or view. */
  readonly tableId: number;
  readonly columns: readonly string[];
  readonly target: Table;
  readonly targetColumns: readonly string[];
}

export interface Exclusion {
  readonly object: TableKind | 'column' | 'relation' | 'function' | 'argument' | 'domain' | 'enum' | 'enum value' | 'schema';
  /** The oid of the table, function, enum or schema that it is or belongs to; 0 for a schema that does not exist. */
  readonly id: number;
  /** Qualified name: `public.account.balance`, `public.total(integer)`. */
  readonly name: string;
  readonly cause: ExclusionCause;
  readonly reason: string;
  readonly lacking: LackingPrivilege | null;
}

/** An object with a different GraphQL name because its own is taken. */
export interface Renaming {
  readonly object: Exclusion['object'];
  /** The oid of the table, function or enum that it is or belongs to. */
  readonly id: number;
  readonly name: string;
  readonly reason: string;
}

export type ExclusionCause =
  | 'missing-schema'
  | 'not-granted'
  | 'type-out-of-reach'
  | 'owner-left-out'
  | 'no-columns'
  | 'no-key'
  | 'illegal-name'
  | 'name-taken'
  | 'unsupported-type'
  | 'not-callable'
  | 'unusable-directive';

/** A missing `usage` on a schema, `select` on a table or column, or `execute` on a function. */
export interface LackingPrivilege {
  readonly privilege: 'usage' | 'select' | 'execute';
  /** The oid of the schema, table or function. */
  readonly id: number;
  /** The column, or null for the whole object. */
  readonly column: string | null;
}
