/** The result of `effectsQuery`: lists of rows, each a tuple whose members are named here. */

export interface RawEffects {
  readonly functions: readonly RawFunctionBody[];
  readonly relations: readonly RawName[];
  /** All but the rows of tables, and arrays of them. */
  readonly types: readonly RawName[];
  /** Those that run a function of a user that is not in C, or one of PostgreSQL's. */
  readonly operators: readonly RawName[];
  readonly edges: readonly RawEdge[];
  /** What calls a function that changes the session, or reads the last value of a sequence, in an expression. */
  readonly callers: readonly (readonly [kind: NodeKind, id: number, changes: boolean, sequences: boolean])[];
  /** Names of PostgreSQL's functions that are not immutable, in SQL and in its source. Empty, as the next list, if nobody's function is to be judged by them. */
  readonly readers: readonly string[];
  readonly systemRelations: readonly string[];
}

/** `r` is reading a relation, `w` writing it, `p` a function, `o` an operator, `t` a type. */
export type NodeKind = 'r' | 'w' | 'p' | 'o' | 't';

export type RawName = readonly [id: number, name: string];

export type RawEdge = readonly [source: NodeKind, sourceId: number, target: NodeKind, targetId: number];

export type RawFunctionBody = readonly [
  id: number,
  name: string,
  /** `pg_proc.provolatile`: immutable, stable, volatile. */
  volatility: 'i' | 's' | 'v',
  language: string,
  argumentNames: readonly string[] | null,
  /** Its source text; null for functions in C, and aggregates. */
  body: string | null,
  /** Its qualified signature as SQL; null unless it is immutable. */
  signature: string | null,
];
