/**
 * How strictly documents are coerced: `strict` as the GraphQL specification says; `lenient` judges a scalar or an enum by its value where it
 * is used, as pg_graphql does.
 */
export type Coercion = 'lenient' | 'strict';
