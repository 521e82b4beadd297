/**
 * What can settle a conflict when a row is inserted: the unique indexes whose columns the role may read, which PostgreSQL demands, and under which names.
 */
import { type BuildContext, privilegesOn, type TableContext } from './build-context.ts';
import type { Arbiter } from './model.ts';
import { enumValueNames } from './names.ts';

/** Fills in the arbiters of the tables that can be inserted into, for those with the addition. */
export function* addArbiters(context: BuildContext): Generator<void, void> {
  for (const tableContext of context.tables.values()) {
    const { table, key } = tableContext;
    if (key === null || !table.insertable || !table.additions.has('onConflict')) continue;
    table.arbiters = arbitersOf(context, tableContext);
    yield;
  }
}

/** What they are called does not depend on the role. */
function arbitersOf(context: BuildContext, { source }: TableContext): Arbiter[] {
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
