/**
 * Tells functions of one name apart by the names of their arguments: PostgreSQL finds a function by those that a call gives, and a call
 * that fits two functions is ambiguous (manual: Function Type Resolution).
 */
import type { Catalog, CatalogFunction } from '../../catalog/catalog.ts';

/** How calls and the field of a function differ from those of its namesakes. */
export interface Overload {
  /** The arguments that its field is named after; null if it has the plain name. */
  readonly by: readonly string[] | null;
  /** Arguments with a default that calls must give all the same, because the call would fit a namesake without them. */
  readonly required: ReadonlySet<string>;
  /** Whether each of its calls fits a namesake. */
  readonly ambiguous: boolean;
}

/** The functions that have namesakes in their schema, by id. Those over rows are fields of the rows, of each table apart. */
export function findOverloads({
  functions,
  tables,
  types,
}: Pick<Catalog, 'functions' | 'tables' | 'types'>): ReadonlyMap<number, Overload> {
  const rows = new Set(tables.map(({ id }) => id));
  const relationOf = ({ arguments: [first] }: CatalogFunction): number => (first && types.get(first.typeId)?.relationId) ?? 0;
  const tableOf = (each: CatalogFunction): number => (rows.has(relationOf(each)) ? relationOf(each) : 0);
  const byName = Map.groupBy(functions, (each) => `${each.schemaId} ${each.name} ${tableOf(each)}`);
  const overloads = new Map<number, Overload>();
  for (const functionsOfName of byName.values()) {
    if (functionsOfName.length === 1) continue;
    // The row is given by its position.
    const namesakes = functionsOfName.map((each) => (tableOf(each) === 0 ? each : { ...each, arguments: each.arguments.slice(1) }));
    const found = namesakes.map((one) => ({ one, required: requiredBeside(one, namesakes) }));
    const distinct = found.flatMap(({ one, required }) => (required === null ? [] : one));
    const shortest = shortestOf(distinct);
    for (const { one, required } of found) {
      const by = required === null || one === shortest ? null : one.arguments.map(({ name }) => name);
      overloads.set(one.id, { by, required: required ?? new Set(), ambiguous: required === null });
    }
  }
  return overloads;
}

/** The function with the fewest arguments, which keeps the plain name: others usually came later. Undefined if several have as few. */
function shortestOf(functions: readonly CatalogFunction[]): CatalogFunction | undefined {
  const fewest = Math.min(...functions.map((each) => each.arguments.length));
  const [shortest, ...others] = functions.filter((each) => each.arguments.length === fewest);
  return others.length === 0 ? shortest : undefined;
}

/** The arguments with a default that calls of a function must give; null if no argument tells it from a namesake. */
function requiredBeside(one: CatalogFunction, namesakes: readonly CatalogFunction[]): ReadonlySet<string> | null {
  const required = new Set<string>();
  // What tells it from a long one may tell it from a short one, too.
  for (const other of namesakes.toSorted((first, second) => second.arguments.length - first.arguments.length)) {
    // A call can fit both if each takes all that the other requires.
    if (other === one || !takesAll(one, requiredOf(other)) || !takesAll(other, [...requiredOf(one), ...required])) continue;
    const taken = namesOf(other);
    const own = one.arguments.find(({ name }) => !taken.has(name));
    if (!own) return null;
    required.add(own.name);
  }
  return required;
}

function takesAll(one: CatalogFunction, names: readonly string[]): boolean {
  const own = namesOf(one);
  return names.every((name) => own.has(name));
}

function namesOf({ arguments: args }: CatalogFunction): ReadonlySet<string> {
  return new Set(args.map(({ name }) => name));
}

/** In named notation, PostgreSQL finds a variadic function only if all arguments are given. */
function requiredOf({ arguments: args, variadic }: CatalogFunction): readonly string[] {
  return args.filter(({ hasDefault }) => variadic || !hasDefault).map(({ name }) => name);
}
