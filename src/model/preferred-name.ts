/**
 * The GraphQL name that an object has unless it is taken: that of its directive, or one derived from its name in PostgreSQL. With the
 * addition `adaptedNames`, a derived name that GraphQL forbids is replaced by a legal one, which gives way to all other names.
 */
import type { CatalogColumn, CatalogFunction } from '../catalog/catalog.ts';
import type { Additions } from './additions.ts';
import type { BuildContext } from './build-context.ts';
import { type Directive, readDirective, readName } from './directives.ts';
import { columnFieldName, isFreeName, legalName, routineFieldName } from './names.ts';
import type { TableFacts } from './table-facts.ts';

export interface PreferredName {
  readonly name: string;
  /** What gave it the name: its directive, its own name, or its own name, adapted. */
  readonly origin: 'directive' | 'own' | 'adapted';
}

/** Makes the preferred name. Without the addition it may be illegal; one from a directive always may. */
export function preferredName(name: string, directive: Directive, derive: (name: string) => string, additions: Additions): PreferredName {
  const given = readName(directive, 'name');
  if (given !== null) return { name: given, origin: 'directive' };
  const derived = derive(name);
  if (isFreeName(derived) || !additions.has('adaptedNames')) return { name: derived, origin: 'own' };
  return { name: legalName(name, derive), origin: 'adapted' };
}

/** The preferred name of a column. */
export function columnNameOf(
  { schema, additions }: Pick<TableFacts, 'schema' | 'additions'>,
  { name, comment }: CatalogColumn,
): PreferredName {
  return preferredName(name, readDirective(comment), (own) => columnFieldName(own, schema.inflection), additions);
}

/** The preferred name of a function's field. Its schema need not be exposed. */
export function routineNameOf({ schemas, settings }: Pick<BuildContext, 'schemas' | 'settings'>, source: CatalogFunction): PreferredName {
  const { inflection, additions } = schemas.get(source.schemaId) ?? { inflection: false, additions: settings.additions };
  return preferredName(source.name, readDirective(source.comment), (own) => routineFieldName(own, inflection), additions);
}

/** Why an object has an adapted name, for the report. */
export function whyAdapted(name: string, given: string, remedy: string): string {
  return `"${name}" is not a valid GraphQL name, so it is called "${given}"; ${remedy}`;
}
