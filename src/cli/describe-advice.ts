/** The advice for many operations as text for a person. */
import type { AdviceGroup } from '../explain/advise.ts';
import { printable, printableSql } from './printable.ts';
import type { Paint } from './terminal.ts';

export interface AdviceReport {
  /** How many operations were explained. */
  readonly explained: number;
  readonly groups: readonly AdviceGroup[];
  /** Operations that could not be explained, and why. */
  readonly failed: readonly { readonly name: string; readonly reason: string }[];
}

/** How many operations are named per piece of advice. */
const maxNamed = 8;

/** The text, with a trailing line break. */
export function describeAdviceReport({ explained, groups, failed }: AdviceReport, paint: Paint): string {
  const title = `${counted(explained, 'operation')} explained, ${failed.length} not: ${groups.length === 0 ? 'no advice' : counted(groups.length, 'piece of advice', 'pieces of advice')}`;
  const lines = [paint('bold', title), ...groups.flatMap(describeGroup)];
  if (failed.length > 0)
    lines.push('', paint('bold', 'Not explained'), ...failed.map(({ name, reason }) => printable(`  ${name}: ${reason}`)));
  return `${lines.join('\n')}\n`;
}

function describeGroup({ advice, operations, count, milliseconds }: AdviceGroup): string[] {
  const names = [...new Set(operations.map(({ name }) => name))];
  const more = names.length > maxNamed ? ` and ${names.length - maxNamed} more` : '';
  const seen = milliseconds === null ? '' : `; seen ${counted(count, 'time')}, ${(milliseconds / 1000).toFixed(1)} s in total`;
  return [
    '',
    printable(`${advice.code}: ${advice.table}: ${advice.message}`),
    `  ${printableSql(advice.sql)}`,
    printable(`  for ${counted(names.length, 'operation')}: ${names.slice(0, maxNamed).join(', ')}${more}${seen}`),
  ];
}

function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
