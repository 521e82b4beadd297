/** What statements depend on: loaded once for the tables and functions that they name. */
import { type Dependencies, loadDependencies } from '../catalog/load-dependencies.ts';
import type { RequestDatabase } from '../database/database.ts';
import type { PlanMeasure } from '../plan/measure.ts';

/** How many sets of tables and functions to remember. */
const mostKnown = 1000;
const none: ReadonlySet<number> = new Set();

/** What statements depend on, read once for the tables and functions that they name, until the schema changes. */
export class DependencyCache {
  readonly #database: RequestDatabase;
  readonly #known = new Map<string, Promise<Dependencies>>();

  constructor(database: RequestDatabase) {
    this.#database = database;
  }

  async of(measure: PlanMeasure): Promise<Dependencies> {
    const known = await this.#ofRelations(measure);
    return measure.readsEstimate ? { ...known, unannounced: [...known.unannounced, "PostgreSQL's estimate of a count"] } : known;
  }

  /** Of role-independent tables nothing has to be asked: they have no policies, views or functions, and a feed names their partitions. */
  #ofRelations({ tableIds, routineIds, roleIndependent }: PlanMeasure): Promise<Dependencies> {
    if (roleIndependent) return Promise.resolve({ relations: tableIds, isTraced: false, readsClaims: false, unannounced: [], own: none });
    const [tables, functions] = [sorted(tableIds), sorted(routineIds)];
    const key = `${tables} ${functions}`;
    let known = this.#known.get(key);
    if (known === undefined) {
      if (this.#known.size >= mostKnown) this.#known.clear();
      known = loadDependencies(this.#database, tables, functions);
      known.catch(() => this.#known.delete(key));
      this.#known.set(key, known);
    }
    return known;
  }

  /** The schema has changed. */
  forget(): void {
    this.#known.clear();
  }
}

function sorted(ids: readonly number[]): readonly number[] {
  return [...ids].sort((one, other) => one - other);
}
