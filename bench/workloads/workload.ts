/** A workload: one request in the dialect of each server, the same work as hand-written SQL, and its variables. */
import type { ServerName } from '../servers/start-server.ts';

export type Variables = Readonly<Record<string, unknown>>;

/** A statement written by hand. */
export interface Statement {
  readonly text: string;
  values(variables: Variables): string[];
}

/** The same request in both GraphQL dialects, and as a statement that returns the whole answer as its only value. */
export interface Asked {
  readonly rowgraph: string;
  /** Absent if PostGraphile with the benchmark's plugins cannot answer, or not in a defined order: PostGraphile is then left out. */
  readonly postgraphile?: string;
  /** Absent if no statement can answer: the bare handler is then left out. */
  readonly statement?: Statement;
  /** Statements before it in the same batch. */
  readonly ahead?: readonly Statement[];
}

export interface Workload extends Asked {
  readonly name: string;
  readonly title: string;
  readonly role: 'anon' | 'authenticated';
  /** The variables of request number `index`; the same for every server and every run. */
  variables(index: number): Variables;
  /** Asked beforehand with the same variables; its `endCursor` becomes the variable `cursor`. */
  readonly position?: Asked;
  /** Run by the superuser before each slice, so that writes do not make later slices slower. */
  readonly before?: string;
  /** The extension of PostgreSQL that it needs; left out where there is none. */
  readonly extension?: 'vector';
  /** Keys whose values change from one answer to the next. */
  readonly changing?: readonly string[];
}

/** The document for a server, or null if the server cannot answer. The bare handler finds a statement by rowgraph's document. */
export function documentFor(server: ServerName, { rowgraph, postgraphile, statement }: Asked): string | null {
  if (server === 'postgraphile') return postgraphile ?? null;
  return server === 'bare' && !statement ? null : rowgraph;
}

/** Values of a statement: the variables with these names, in this order. */
export function valuesOf(...names: string[]): (variables: Variables) => string[] {
  return (variables) => names.map((name) => String(variables[name]));
}

/** A number from `low` to `high`, scattered but the same for the same index and salt. */
export function scatter(index: number, salt: number, low: number, high: number): number {
  let mixed = Math.imul(index + 1, 0x9e3779b1) ^ Math.imul(salt + 1, 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d);
  return low + (((mixed ^ (mixed >>> 13)) >>> 0) % (high - low + 1));
}
