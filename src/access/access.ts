/** Who may do what with which rows of each table, as grants and policies decide it. Types only. */
import type { TableKind } from '../model/model.ts';

export type Verb = 'select' | 'insert' | 'update' | 'delete';

/** The tables of the exposed schemas, and what each of some roles may do with them. */
export interface AccessReport {
  readonly schemas: readonly string[];
  readonly roles: readonly RoleFacts[];
  /** By schema and name. */
  readonly tables: readonly TableAccess[];
  /** Functions of the exposed schemas that run with the privileges of their owner, and which of the roles may execute them. */
  readonly definers: readonly DefinerAccess[];
}

export interface RoleFacts {
  readonly name: string;
  readonly isSuperuser: boolean;
  /** Whether no policy applies to it: a superuser, or `bypassrls`, which members do not inherit. */
  readonly bypassesRowSecurity: boolean;
  /** The roles whose privileges it has by membership. */
  readonly inherits: readonly string[];
}

export interface TableAccess {
  readonly schema: string;
  readonly name: string;
  readonly kind: TableKind;
  readonly owner: string;
  /** Its row type in the API; null if it is in the API of none of the roles. */
  readonly typeName: string | null;
  /** `none`: views and foreign tables have no row level security of their own. */
  readonly rowSecurity: 'off' | 'on' | 'forced' | 'none';
  readonly columns: readonly string[];
  /** Who may do what, in plain words: roles that may do the same share a sentence. */
  readonly sentences: readonly Sentence[];
  /** What holds for the table as a whole: row level security, what a view reads as whom, a partition. */
  readonly notes: readonly Note[];
  /** In the order of `AccessReport.roles`. */
  readonly roles: readonly RoleAccess[];
  readonly policies: readonly PolicyAccess[];
  /** The grants and the switch of row level security as SQL. */
  readonly sql: string;
}

/** `all` and `some` are rows that the roles may reach; `none`: they may not, or have a privilege that no policy lets them use. */
export type Reach = 'all' | 'some' | 'none';

export interface Sentence {
  readonly verb: Verb;
  /** Empty if nobody may. */
  readonly roles: readonly string[];
  readonly reach: Reach;
  readonly text: string;
}

export interface Note {
  /** Whether somebody may see or do more than policies say. */
  readonly isWarning: boolean;
  readonly text: string;
}

export interface RoleAccess {
  readonly role: string;
  readonly verbs: Readonly<Record<Verb, VerbAccess>>;
}

export interface VerbAccess {
  readonly reach: Reach;
  /** Whether the role has the privilege, for the table or some of its columns. */
  readonly isGranted: boolean;
  /** The columns that it has the privilege for; null for all. */
  readonly columns: readonly string[] | null;
  /** Which rows, in words: `not is_private`; for an update, which it may change. Null unless the reach is `some`. */
  readonly condition: string | null;
  /** What an updated row must be afterwards, if that differs from `condition`. */
  readonly check: string | null;
  /** Why it may, or may not: `granted to public; policy everybody_reads`. */
  readonly reason: string;
}

export interface PolicyAccess {
  readonly name: string;
  readonly command: Verb | 'all';
  /** False if it is restrictive: it takes rows away that others give. */
  readonly isPermissive: boolean;
  /** `public` stands for all. */
  readonly roles: readonly string[];
  readonly text: string;
  readonly sql: string;
}

export interface DefinerAccess {
  /** `public.total(integer)`. */
  readonly name: string;
  readonly owner: string;
  readonly ownerBypassesRowSecurity: boolean;
  readonly roles: readonly string[];
}

export interface AccessOptions {
  /** Whose access; by default, that of the roles that a grant or policy names. Roles that do not exist are left out. */
  readonly roles?: readonly string[];
  /** The name of one table, with or without its schema. */
  readonly table?: string;
}
