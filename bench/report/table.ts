/** Tables with aligned columns, for a terminal and for Markdown. */

/** Rows as a table: columns of text first, then columns of numbers. */
export function describeRows(heads: readonly string[], rows: readonly (readonly string[])[], texts = 2): string {
  const widths = heads.map((head, column) => Math.max(head.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => (column < texts ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!))).join(' | ')} |`;
  const rule = `|${widths.map((width, column) => (column < texts ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`;
  return [line(heads), rule, ...rows.map(line)].join('\n');
}

/** A number for people to read, or a dash if it is unknown. */
export function figure(number: number, digits: number): string {
  return Number.isFinite(number) ? number.toFixed(digits) : '–';
}

/** The median: the middle number, or the mean of the two in the middle. */
export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((one, other) => one - other);
  const half = sorted.length / 2;
  return ((sorted[Math.ceil(half) - 1] ?? Number.NaN) + (sorted[Math.floor(half)] ?? Number.NaN)) / 2;
}
