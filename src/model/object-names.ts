/** Names of PostgreSQL objects in messages: qualified, not quoted. */
import type { Catalog, CatalogFunction } from '../catalog/catalog.ts';

/** `public.account`. */
export function qualifiedName(schema: string, name: string): string {
  return `${schema}.${name}`;
}

/** `public.total(integer)`, because functions may be overloaded. */
export function functionName({ types }: Pick<Catalog, 'types'>, { schema, name, arguments: args }: CatalogFunction): string {
  return `${qualifiedName(schema, name)}(${args.map(({ typeId }) => types.get(typeId)?.sql ?? '?').join(', ')})`;
}
