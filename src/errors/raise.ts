/**
 * The marker of errors that generated statements raise. Plain SQL can only raise errors of built-in functions, so `compile/` casts a text
 * that starts with this marker to integer. PostgreSQL quotes the text in its error message, in any language, where `errors/from-postgres.ts`
 * finds it.
 */
export const raiseMarker = 'rowgraph: ';
