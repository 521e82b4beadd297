/**
 * How a statement of ours says no. SQL without PL/pgSQL raises only what a built-in function raises, so `compile/` casts a text that starts
 * with this marker to integer; PostgreSQL quotes it in its message, in any language, and `engine/sqlstate.ts` reads it there.
 */
export const raiseMarker = 'rowgraph: ';
