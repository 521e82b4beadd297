/**
 * What PostgreSQL knows about the safety and speed of exposed objects, beyond what the API is derived from: ownership, policies, grantees,
 * indexes. Loaded by `load-facts.ts`; ids are oids.
 */

export interface Facts {
  /** `server_version_num`: 150004. */
  readonly serverVersion: number;
  /** Whether the role is a superuser or bypasses row level security. */
  readonly bypassesRowSecurity: boolean;
  /** Schemas in which the role may create objects, by id. */
  readonly creatable: ReadonlyMap<number, Grantees>;
  /** Every exposed table, by id. */
  readonly tables: ReadonlyMap<number, TableAccess>;
  /** Views that read tables with row level security as somebody for whom it does not hold. */
  readonly viewBypasses: readonly ViewBypass[];
  /** Functions that run with the privileges of their owner and that the role may execute, by id. */
  readonly definerFunctions: ReadonlyMap<number, DefinerFunction>;
  /** The extension that a function belongs to, by the id of the function. */
  readonly extensions: ReadonlyMap<number, string>;
  /** Ids of foreign keys that no index serves. */
  readonly unindexedKeys: ReadonlySet<number>;
  /** Rules on writing that PostgreSQL does not take in the statements of mutations. */
  readonly refusedRules: readonly RefusedRule[];
  /** By the id of a partition, the id of the table that it is in the end a partition of. */
  readonly partitionRoots: ReadonlyMap<number, number>;
  /** Names as SQL takes them, of those that it takes in quotes only. */
  readonly quotedNames: ReadonlyMap<string, string>;
}

/** Through whom the role has its privileges, as SQL: itself, roles that it is a member of, `public`. */
export type Grantees = readonly string[];

export type Verb = 'select' | 'insert' | 'update' | 'delete';

export interface TableAccess {
  readonly rowSecurity: boolean;
  /** Whether row level security holds for the owner too. */
  readonly forced: boolean;
  /** Whether the role is its owner, or a member of it. */
  readonly owned: boolean;
  /** What the role may do with the table, or with some of its columns. */
  readonly verbs: readonly Verb[];
  readonly grantees: Grantees;
  readonly policies: readonly Policy[];
}

export interface Policy {
  readonly name: string;
  readonly command: Verb | 'all';
  /** Otherwise it is restrictive. */
  readonly permissive: boolean;
  /** Whether it is made for the role. */
  readonly applies: boolean;
  /** The conditions as SQL. */
  readonly using: string | null;
  readonly check: string | null;
}

export interface ViewBypass {
  readonly viewId: number;
  /** The view in whose definition it happens, which may be the same; its name is SQL. */
  readonly through: { readonly id: number; readonly name: string; readonly materialized: boolean };
  /** Whose rights it reads with. */
  readonly owner: string;
  /** The qualified names of the tables. */
  readonly tables: readonly string[];
}

export interface RefusedRule {
  readonly tableId: number;
  readonly name: string;
  readonly verb: Exclude<Verb, 'select'>;
  /** Whether it runs instead of the statement, or as well. */
  readonly instead: boolean;
}

export interface DefinerFunction {
  readonly owner: string;
  /** Whether its owner is a superuser or bypasses row level security. */
  readonly ownerBypassesRowSecurity: boolean;
  /** Whether the names in its body are found the same way whoever calls it. */
  readonly fixedSearchPath: boolean;
  readonly grantees: Grantees;
}
