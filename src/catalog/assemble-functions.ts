/** Assembles functions and their arguments from the result of the catalog query. */
import type { CatalogArgument, CatalogFunction } from './catalog.ts';
import type { CatalogComments } from './catalog-comments.ts';
import type { Effects } from './effects/find-effects.ts';
import type { RawCatalog, RawFunction } from './raw-catalog.ts';

/** Assembles the functions in order of id, yielding after each. */
export function* assembleFunctions(
  raw: RawCatalog,
  comments: CatalogComments,
  schemaNames: ReadonlyMap<number, string>,
  effects: Effects,
): Generator<void, CatalogFunction[]> {
  const defaults = new Map<number, Map<number, string | null>>();
  for (const [id, position, sql] of raw.defaults) defaults.set(id, (defaults.get(id) ?? new Map()).set(position, sql));
  const functions: CatalogFunction[] = [];
  for (const source of raw.functions) {
    const [id, schemaId, name, kind, extension, volatile, securityDefiner, plpgsql, variadic, returnsSet, rows, resultTypeId] = source;
    functions.push({
      id,
      schemaId,
      schema: schemaNames.get(schemaId) ?? '',
      name,
      kind,
      extension,
      volatile,
      securityDefiner,
      plpgsql,
      effects: effects.ofCalling(id),
      variadic,
      returnsSet,
      rows,
      resultTypeId,
      arguments: toArguments(source, defaults.get(id)),
      ambiguous: source[16],
      comment: comments.on('function', id),
    });
    yield;
  }
  return functions;
}

/**
 * `pg_proc` has names, modes and defaults for all arguments, but types only for input arguments. Defaults belong to the last input
 * arguments.
 */
function toArguments(raw: RawFunction, defaults: ReadonlyMap<number, string | null> | undefined): CatalogArgument[] {
  const [types, names, modes, defaultCount] = [raw[12], raw[13], raw[14], raw[15]];
  const positions = modes ? modes.flatMap((mode, position) => ('ibv'.includes(mode) ? [position] : [])) : [...types.keys()];
  return types.map((typeId, index) => {
    const position = positions[index] ?? index;
    return {
      name: names?.[position] ?? '',
      typeId,
      hasDefault: index >= types.length - defaultCount,
      defaultSql: defaults?.get(position + 1) ?? null,
    };
  });
}
