/**
 * The names of the input types that the columns of all tables share: those of JSON, and the filters of types that are Opaque. Only those that
 * a table with the addition uses, so that others keep the names.
 */
import type { BuildContext } from '../build-context.ts';
import type { JsonTypeNames, Model } from '../model.ts';
import type { ClaimedNames } from '../naming/claimed-names.ts';
import { isJson } from '../types/named-types.ts';
import { postgresType } from '../types/postgres-types.ts';
import type { TypeFilterName } from '../types/type-filters.ts';
import type { LazyTable } from './lazy-table.ts';

/** Claims them after all other types. */
export function claimInputTypes(context: BuildContext, names: ClaimedNames): Pick<Model, 'jsonTypes' | 'typeFilters'> {
  return { jsonTypes: hasJson(context) ? claimJsonTypes(names) : null, typeFilters: claimTypeFilters(context, names) };
}

/** The tables, and the composite types that are filtered. */
function filtered({ tables, composites }: BuildContext): readonly LazyTable[] {
  return [...tables.values(), ...[...composites.values()].filter(({ composite }) => composite?.filterName !== null)];
}

/** Whether any with the addition has a column of JSON, or of a domain over JSON. */
function hasJson(context: BuildContext): boolean {
  const { catalog, domains } = context;
  const ofJson = new Set([...catalog.types.values()].filter((type) => postgresType(type).scalar === 'JSON').map(({ id }) => id));
  for (const { id, base } of domains.values()) if (isJson(base)) ofJson.add(id);
  return filtered(context).some(
    ({ additions, traits }) => additions.has('json') && traits.catalogTable.columns.some(({ typeId }) => ofJson.has(typeId)),
  );
}

/** The filters of the types of columns, and of the domains over such a type, in tables with the addition. */
function claimTypeFilters(context: BuildContext, names: ClaimedNames): Model['typeFilters'] {
  const { catalog, settings } = context;
  if (!settings.additions.has('moreTypes')) return new Map();
  const filters = new Map<number, TypeFilterName>();
  for (const type of catalog.types.values()) {
    const base = (type.kind === 'd' ? catalog.types.get(type.baseId) : undefined) ?? type;
    const { filter } = postgresType(base);
    if (filter !== null) filters.set(type.id, filter);
  }
  if (filters.size === 0) return new Map();
  const used = new Set<TypeFilterName>();
  for (const { additions, traits } of filtered(context)) {
    if (!additions.has('moreTypes')) continue;
    for (const { typeId } of traits.catalogTable.columns) {
      const filter = filters.get(typeId);
      if (filter !== undefined) used.add(filter);
    }
  }
  return new Map([...used].map((filter) => [filter, names.claimShared(`${filter}Filter`)]));
}

function claimJsonTypes(names: ClaimedNames): JsonTypeNames {
  return {
    filter: names.claimShared('JSONFilter'),
    path: names.claimShared('JSONPath'),
    change: names.claimShared('JSONChange'),
    pathValue: names.claimShared('JSONPathValue'),
  };
}
