/** Which cohorts depend on which relations. */
import type { Change, ChangeFeed } from './changes/change-feed.ts';
import type { Cohort } from './cohort.ts';

export class RelationIndex {
  readonly #dependents = new Map<number, Set<Cohort>>();
  readonly #relations = new Map<Cohort, ReadonlySet<number>>();
  /** Those that depend on a relation whose changes the feed does not announce; all if it polls, also what is kept in no relation. */
  readonly #uncovered = new Set<Cohort>();
  #feed: ChangeFeed | null = null;

  /** All relations that any cohort depends on. */
  get relations(): Iterable<number> {
    return this.#dependents.keys();
  }

  /** The cohort depends on what its statement does, and on what its last evaluation read. */
  set(cohort: Cohort): void {
    const { dependencies, traced } = cohort;
    const known = this.#relations.get(cohort);
    const isKnown = known !== undefined && traced.every((id) => known.has(id)) && dependencies.relations.every((id) => known.has(id));
    if (isKnown && known.size <= traced.length + dependencies.relations.length) return;
    this.#forget(cohort);
    const relations = new Set([...dependencies.relations, ...traced]);
    this.#relations.set(cohort, relations);
    for (const id of relations) {
      const dependents = this.#dependents.get(id);
      if (dependents === undefined) this.#dependents.set(id, new Set([cohort]));
      else dependents.add(cohort);
    }
    this.#judge(cohort, relations);
    this.#poll();
  }

  delete(cohort: Cohort): void {
    this.#forget(cohort);
    this.#uncovered.delete(cohort);
    this.#poll();
  }

  /** A feed has been opened, or covers other relations than before; null if it is closed. */
  coverBy(feed: ChangeFeed | null): void {
    this.#feed = feed;
    for (const [cohort, relations] of this.#relations) this.#judge(cohort, relations);
    this.#poll();
  }

  /** The cohorts whose answers may be others after a change. */
  *affectedBy(change: Change): Iterable<Cohort> {
    if (change.kind === 'everything') yield* this.#relations.keys();
    else if (change.kind === 'uncovered') yield* this.#uncovered;
    else {
      const seen = new Set<Cohort>();
      for (const id of change.tables) {
        for (const cohort of this.#dependents.get(id) ?? []) {
          if (!seen.has(cohort)) yield cohort;
          seen.add(cohort);
        }
      }
      for (const cohort of this.#relations.keys()) if (cohort.readsUnknown && !seen.has(cohort)) yield cohort;
    }
  }

  #judge(cohort: Cohort, relations: ReadonlySet<number>): void {
    const feed = this.#feed;
    if (feed !== null && (feed.status.mode === 'poll' || [...relations].some((id) => !feed.covers(id)))) this.#uncovered.add(cohort);
    else this.#uncovered.delete(cohort);
  }

  #forget(cohort: Cohort): void {
    for (const id of this.#relations.get(cohort) ?? []) {
      const dependents = this.#dependents.get(id);
      dependents?.delete(cohort);
      if (dependents?.size === 0) this.#dependents.delete(id);
    }
    this.#relations.delete(cohort);
  }

  #poll(): void {
    this.#feed?.pollUncovered(this.#uncovered.size > 0);
  }
}
