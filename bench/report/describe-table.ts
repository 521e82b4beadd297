/** The measurements as a table with aligned columns, for a terminal and for Markdown. */
import type { Slice } from '../measure/measure-slice.ts';
import { type Ratio, ratioOf, summarizeSlices } from '../measure/summarize-slices.ts';
import type { ServerName } from '../servers/start-server.ts';

/** The servers that others are compared with, if they were measured. */
const references: readonly ServerName[] = ['bare', 'before', 'unlimited'];

/** One row for each workload and server. CPU seconds are per 1,000 requests. */
export function describeTable(slices: readonly Slice[]): string {
  return describeRows(tableTitles(slices), describeSummaries(slices));
}

/** The heads of that table. */
export function tableTitles(slices: readonly Slice[]): string[] {
  const shares = measuredReferences(slices).flatMap((name) => [`of ${name}`, `CPU of ${name}`]);
  return [...['workload', 'server', 'req/s', ...shares], ...['p50 ms', 'p99 ms', 'server CPU s', 'PostgreSQL CPU s', 'memory MB', 'wrong']];
}

/** Its rows. */
export function describeSummaries(slices: readonly Slice[]): string[][] {
  const measured = measuredReferences(slices);
  return summarizeSlices(slices).map((summary) => {
    const shareOf = (other: ServerName, read: (slice: Slice) => number): string =>
      ratioFigure(ratioOf(slices, summary.workload, [summary.server, other], read));
    return [
      summary.workload,
      summary.server,
      figure(summary.requestsPerSecond, 0),
      ...measured.flatMap((other) => [shareOf(other, ({ requestsPerSecond }) => requestsPerSecond), shareOf(other, cpuOf)]),
      figure(summary.p50, 1),
      figure(summary.p99, 1),
      figure(summary.serverCpu, 3),
      figure(summary.postgresCpu, 3),
      figure(summary.memory, 0),
      String(summary.wrong),
    ];
  });
}

function measuredReferences(slices: readonly Slice[]): readonly ServerName[] {
  return references.filter((name) => slices.some(({ server }) => server === name));
}

/** The CPU seconds of server and PostgreSQL for 1,000 requests. */
export function cpuOf({ serverCpu, postgresCpu }: Slice): number {
  return serverCpu + (Number.isFinite(postgresCpu) ? postgresCpu : 0);
}

/** Rows as a table: columns of text first, then columns of numbers. */
export function describeRows(heads: readonly string[], rows: readonly (readonly string[])[], texts = 2): string {
  const widths = heads.map((head, column) => Math.max(head.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => (column < texts ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!))).join(' | ')} |`;
  const rule = `|${widths.map((width, column) => (column < texts ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`;
  return [line(heads), rule, ...rows.map(line)].join('\n');
}

/** A ratio for people to read, with its standard error if there is one. */
export function ratioFigure({ mean, error }: Ratio): string {
  return Number.isFinite(error) ? `${figure(mean, 3)} ± ${figure(error, 3)}` : figure(mean, 2);
}

/** A number for people to read, or a dash if it is unknown. */
export function figure(number: number, digits: number): string {
  return Number.isFinite(number) ? number.toFixed(digits) : '–';
}
