/** Defines a workload of `npm run bench:large`. */
import { Figures } from './figures.ts';
import { type LargeDatabase, startLargeDatabase } from './large-database.ts';

export interface LargeWorkload {
  readonly name: string;
  /** What is measured, for the report. */
  readonly about: string;
  run(): Promise<Figures>;
}

/** A workload over a database of its own with this many tables, set up by further SQL. */
export function overDatabase(
  { name, about, tables, sql = '' }: { readonly name: string; readonly about: string; readonly tables: number; readonly sql?: string },
  measure: (database: LargeDatabase, figures: Figures) => Promise<void>,
): LargeWorkload {
  const run = async (): Promise<Figures> => {
    const figures = new Figures();
    const database = await startLargeDatabase(tables, sql);
    try {
      await measure(database, figures);
    } finally {
      await database.stop();
    }
    return figures;
  };
  return { name, about, run };
}
