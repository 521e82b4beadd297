/**
 * How a generated statement raises an error. SQL without PL/pgSQL can only raise the errors of built-in functions, so `compile/` casts a text that starts
 * with this marker to integer; PostgreSQL quotes it in its message, in any language, and `engine/sqlstate.ts` finds it there.
 */
export const raiseMarker = 'rowgraph: ';
