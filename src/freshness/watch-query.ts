/** How the queries that watch the schema run. */
import type { QueryOptions } from '../database/database.ts';

/** They take milliseconds: a server that needs longer than this counts as unreachable. */
export const watchQuery: QueryOptions = { timeoutMillis: 10_000, isRepeated: true };
