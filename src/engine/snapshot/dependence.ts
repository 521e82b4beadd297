/** What a snapshot depends on, by which a changed object concerns it or not. */
import type { Catalog } from '../../catalog/catalog.ts';
import type { Dependence } from '../../freshness/versions.ts';

/** `searched`: the schemas on the search path of requests. */
export function dependenceOf({ tables, schemas, viewRelations }: Catalog, searched: readonly string[]): Dependence {
  const names = new Map(schemas.map(({ id, name }) => [id, name]));
  return {
    schemas: new Set([...searched, ...viewRelations.values()]),
    tables: new Map(
      tables.map(({ id, schemaId, name, indexes }) => {
        return [id, { schema: names.get(schemaId) ?? '', name, hasKey: indexes.some(({ primary }) => primary) }];
      }),
    ),
    underlying: new Set(viewRelations.keys()),
  };
}

/**
 * These tables and those that are related to them, whose fields may change, too: by name, as in `PlanMeasure.touches`.
 */
export function suspectsOf({ foreignKeys }: Catalog, { tables }: Dependence, changed: ReadonlySet<number>): ReadonlySet<string> {
  const ids = new Set(changed);
  for (const { tableId, targetId } of foreignKeys) {
    if (changed.has(tableId)) ids.add(targetId);
    if (changed.has(targetId)) ids.add(tableId);
  }
  const suspects = new Set<string>();
  for (const id of ids) {
    const table = tables.get(id);
    if (table !== undefined) suspects.add(`${table.schema}.${table.name}`);
  }
  return suspects;
}
