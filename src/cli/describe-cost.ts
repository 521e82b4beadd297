/** The counts of a document's operations as tables for a person, with one line per limit. */
import { limitNames } from '../budget/limits.ts';
import type { OperationCost, RequestCost } from '../index.ts';

/** The tables, with a trailing line break. */
export function describeCost({ operations, limits }: RequestCost): string {
  return `${operations.map((operation) => describeOperation(operation, limits)).join('\n\n')}\n`;
}

function describeOperation({ operation, counts, exceeded, error }: OperationCost, limits: RequestCost['limits']): string {
  const rows = limitNames.map((name) => {
    const note = exceeded.includes(name) ? '  over the limit' : '';
    return `  ${name.padEnd(nameWidth)}${written(counts[name]).padStart(14)}${written(limits[name] ?? 'off').padStart(14)}${note}`;
  });
  const heading = `  ${'limit'.padEnd(nameWidth)}${'count'.padStart(14)}${'maximum'.padStart(14)}`;
  return [
    operation ?? 'Unnamed operation',
    heading,
    ...rows,
    ...(error === undefined ? [] : [`  the counts are incomplete: ${error}`]),
  ].join('\n');
}

const nameWidth = Math.max(...limitNames.map(({ length }) => length));

function written(count: number | string | null): string {
  if (count === null) return '-';
  return typeof count === 'string' ? count : count.toLocaleString('en-US');
}
