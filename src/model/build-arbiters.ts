/**
 * The arbiters that inserts into a table can name: unique indexes on columns that the role may read, as PostgreSQL requires, with their
 * names in the enum.
 */
import { type BuildContext, privilegesOn } from './build-context.ts';
import type { LazyTable } from './lazy-table.ts';
import type { Arbiter } from './model.ts';
import { enumValueNames } from './names.ts';

/** Builds the arbiters of a table, if it is insertable and has the addition. Their names do not depend on the role. */
export function buildArbiters(context: BuildContext, { facts }: LazyTable): Arbiter[] {
  const { source, key, insertable, additions } = facts;
  if (key === null || !insertable || !additions.has('onConflict')) return [];
  const names = enumValueNames(source.arbiters.map(({ name }) => name));
  const readable = new Map(
    source.columns.filter((column) => privilegesOn(context, source, column).select).map((each) => [each.number, each]),
  );
  return source.arbiters.flatMap(({ name, columns, inference }, position): Arbiter[] => {
    const read = columns.flatMap((number) => readable.get(number)?.name ?? []);
    if (read.length < columns.length) return [];
    const target = inference ? ({ kind: 'index', ...inference } as const) : ({ kind: 'constraint', name, columns: read } as const);
    return [{ valueName: names[position]!, description: describe(inference?.elements ?? read, inference?.condition ?? null), target }];
  });
}

function describe(elements: readonly string[], condition: string | null): string {
  return `The rows are unique by ${elements.join(', ')}${condition === null ? '' : ` where ${condition}`}`;
}
