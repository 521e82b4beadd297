/** Loads what `find-effects.ts` needs. */
import type { RequestDatabase } from '../../database/database.ts';
import { effectsQuery } from './effects-query.ts';
import type { RawEffects } from './raw-effects.ts';

export async function loadRawEffects(database: RequestDatabase): Promise<RawEffects> {
  const [row] = await database.query(effectsQuery, []);
  if (!row?.[0]) throw new Error('The query for effects returned no row.');
  return JSON.parse(row[0]) as RawEffects;
}
