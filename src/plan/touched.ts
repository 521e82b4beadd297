/** What an operation touches: tables and functions, and what follows from them for the whole of it. */
import type { SessionEffects } from '../catalog/catalog.ts';
import { ApiError } from '../errors/api-error.ts';
import type { Table } from '../model/model.ts';
import type { Routine } from '../model/routine.ts';
import type { Plan } from './plan.ts';

export interface Touched {
  /** The names of the tables and functions that it touches, without duplicates. */
  readonly touches: readonly string[];
  readonly callsFunctions: boolean;
  /** The ids of those tables and functions. */
  readonly tableIds: readonly number[];
  readonly routineIds: readonly number[];
  /** A volatile function that it calls; null if there is none. */
  readonly volatileRoutine: string | null;
  /** How often its answer is to be computed again, in milliseconds, according to these tables and functions; null for never. */
  readonly liveRefresh: number | null;
  /** What it may do beyond its transaction. */
  readonly effects: SessionEffects;
  /**
   * Whether PostgreSQL parses and plans it in the same way for every role: only queries on role-independent tables, without functions.
   * Never mutations, because their triggers and defaults are not examined.
   */
  readonly roleIndependent: boolean;
}

export class TouchedCollector {
  readonly #kind: Plan['kind'];
  readonly #names = new Set<string>();
  readonly #tableIds = new Set<number>();
  readonly #routineIds = new Set<number>();
  #volatileRoutine: string | null = null;
  #liveRefresh = Infinity;
  #effects: SessionEffects = { readsSession: false, changesSession: false };
  #tablesAreRoleIndependent = true;

  constructor(kind: Plan['kind']) {
    this.#kind = kind;
  }

  found(): Touched {
    return {
      touches: [...this.#names],
      callsFunctions: this.#routineIds.size > 0,
      tableIds: [...this.#tableIds],
      routineIds: [...this.#routineIds],
      volatileRoutine: this.#volatileRoutine,
      liveRefresh: this.#liveRefresh === Infinity ? null : this.#liveRefresh,
      effects: this.#effects,
      roleIndependent: this.#kind === 'query' && this.#routineIds.size === 0 && this.#tablesAreRoleIndependent,
    };
  }

  addTable({ id, kind, schema, name, roleIndependent, readEffects, writeEffects, liveRefresh }: Table): void {
    // A composite type has no rows of its own.
    if (kind === 'composite type') return;
    this.#tableIds.add(id);
    this.#refresh(liveRefresh);
    this.#names.add(`${schema}.${name}`);
    this.#note(this.#kind === 'query' ? readEffects : writeEffects);
    this.#tablesAreRoleIndependent &&= roleIndependent;
  }

  /** Throws NOT_DISTRIBUTABLE if the function would find no rows where there are some. */
  addRoutine({ id, schema, name, volatile, effects, liveRefresh, missesShards }: Routine): void {
    if (missesShards) {
      const cause = `The function ${schema}.${name} returns a set and is written in SQL, so that it finds no rows on the shards of Citus`;
      throw new ApiError('NOT_DISTRIBUTABLE', `${cause}. Write it in PL/pgSQL, or declare it volatile (docs/citus.md).`);
    }
    this.#refresh(liveRefresh);
    this.#routineIds.add(id);
    if (volatile) this.#volatileRoutine ??= `${schema}.${name}`;
    this.#names.add(`${schema}.${name}()`);
    this.#note(effects);
  }

  #refresh(millis: number | null): void {
    if (millis !== null) this.#liveRefresh = Math.min(this.#liveRefresh, millis);
  }

  #note({ readsSession, changesSession }: SessionEffects): void {
    this.#effects = {
      readsSession: this.#effects.readsSession || readsSession,
      changesSession: this.#effects.changesSession || changesSession,
    };
  }
}
