/** Loads what `find-effects.ts` needs. */
import { runInSlices } from '../../budget/turns.ts';
import type { RequestDatabase } from '../../database/database.ts';
import { parseLists } from '../parse-rows.ts';
import { effectLists, effectsQuery } from './effects-query.ts';
import type { RawEffects } from './raw-effects.ts';

export async function loadRawEffects(database: RequestDatabase): Promise<RawEffects> {
  const [row] = await database.query(effectsQuery, []);
  if (!row) throw new Error('The query for effects returned no row.');
  return runInSlices(parseLists<RawEffects>(effectLists, row));
}
