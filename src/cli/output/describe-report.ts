/**
 * A report of the doctor as text for a person: a summary, then the findings by severity and code. Equal findings are combined, followed by
 * the SQL that fixes them.
 */
import { shortenMessage } from '../../errors/api-error.ts';
import type { DoctorReport, Finding, Severity } from '../../index.ts';
import type { RoleChanges } from '../commands/compare-schemas.ts';
import { type Paint, printable, printableSql } from './terminal.ts';

const headings: Readonly<Record<Severity, readonly [one: string, many: string]>> = {
  error: ['error', 'errors'],
  warning: ['warning', 'warnings'],
  info: ['note', 'notes'],
};
const severities: readonly Severity[] = ['error', 'warning', 'info'];
const colours = { error: 'red', warning: 'yellow', info: 'cyan' } as const satisfies Record<Severity, string>;

/** How many names are listed per finding, and per group of equal findings. */
const maxNamed = 8;
const maxRemedies = 3;

export function describeReport({ role, schemas, summary, findings }: DoctorReport, paint: Paint = (_style, text) => text): string {
  const counts = severities.flatMap((severity) => (summary[severity] > 0 ? [countOf(severity, summary[severity])] : []));
  const title = printable(`Role ${role}, schemas ${schemas.join(', ')}: ${counts.join(', ') || 'nothing to report'}`);
  const lines = [paint('bold', title)];
  const byCode = Map.groupBy(findings, ({ code }) => code);
  const width = Math.max(0, ...[...byCode.keys()].map(({ length }) => length));
  for (const [code, ofCode] of byCode) {
    const { severity } = ofCode[0]!;
    lines.push(`  ${paint(colours[severity], headings[severity][0].padEnd(7))}  ${code.padEnd(width)}  ${ofCode.length}`);
  }
  for (const severity of severities) {
    const found = findings.filter((finding) => finding.severity === severity);
    if (found.length === 0) continue;
    lines.push('', paint(colours[severity], countOf(severity, found.length)));
    for (const [code, ofCode] of Map.groupBy(found, (finding) => finding.code)) {
      const alike = Map.groupBy(ofCode, ({ object, message }) => `${object} ${message}`);
      const described = [...alike.values()].flatMap((group) => (group.length > 1 ? describeGroup(group) : describeFinding(group[0]!)));
      lines.push(`  ${code}`, ...described);
    }
  }
  return `${lines.join('\n')}\n`;
}

function countOf(severity: Severity, count: number): string {
  return `${count} ${headings[severity][count === 1 ? 0 : 1]}`;
}

function describeFinding({ object, name, message, remedy, contains, partitions = [] }: Finding): string[] {
  const named = contains.map((part) => part.replace(`${name}.`, ''));
  return [
    printable(`    ${object} ${name}: ${message}`),
    ...(partitions.length > 0 ? [printable(`      also its ${describePartitions(partitions)}`)] : []),
    ...(contains.length > 0 ? [printable(`      also excluded: ${someOf(named)}`)] : []),
    ...describeRemedies(statementsOf(remedy)),
  ];
}

/** Combines findings that differ only in their subject. */
function describeGroup(group: readonly Finding[]): string[] {
  const { object, message } = group[0]!;
  return [
    printable(`    ${group.length} × ${object}: ${message}`),
    printable(
      `      ${someOf(group.map(({ name, partitions = [] }) => (partitions.length > 0 ? `${name} (and ${partitions.length} partitions)` : name)))}`,
    ),
    ...describeRemedies([...new Set(group.flatMap(({ remedy }) => statementsOf(remedy)))]),
  ];
}

function someOf(names: readonly string[]): string {
  const more = names.length > maxNamed ? ` and ${names.length - maxNamed} more` : '';
  return `${names.slice(0, maxNamed).join(', ')}${more}`;
}

/** `partitions public.sale_1 and public.sale_2`, given `table public.sale_1` and `table public.sale_2`. */
function describePartitions(partitions: readonly string[]): string {
  const names = partitions.map((partition) => partition.replace(/^(?:foreign table|[a-z]+) /, ''));
  if (names.length === 1) return `partition ${names[0]}`;
  return `partitions ${names.length > maxNamed ? someOf(names) : new Intl.ListFormat('en-GB').format(names)}`;
}

/** A table and its partitions have a statement each, on separate lines. */
function statementsOf(remedy: string | null): string[] {
  return remedy?.split(/(?<=;)\n/) ?? [];
}

function describeRemedies(remedies: readonly string[]): string[] {
  const more = remedies.length - maxRemedies;
  return [
    ...remedies.slice(0, maxRemedies).map((remedy) => `      ${printableSql(remedy)}`),
    ...(more > 0 ? [`      -- and ${more} more; --json lists them all`] : []),
  ];
}

const effects = ['breaking', 'dangerous', 'safe'] as const;
const effectColours = { breaking: 'red', dangerous: 'yellow', safe: 'cyan' } as const;

export function describeChanges(changes: readonly RoleChanges[], paint: Paint): string {
  const lines = changes.flatMap((ofRole) => {
    const counts = effects.flatMap((effect) => (ofRole[effect].length > 0 ? [`${ofRole[effect].length} ${effect}`] : []));
    const title = paint('bold', `Role ${ofRole.role}: ${counts.join(', ') || 'no changes'}`);
    const width = Math.max(0, ...effects.flatMap((effect) => ofRole[effect].map(({ type }) => type.length)));
    const described = effects.flatMap((effect) =>
      ofRole[effect].map(
        ({ type, description }) => `  ${paint(effectColours[effect], effect.padEnd(9))}  ${type.padEnd(width)}  ${onOneLine(description)}`,
      ),
    );
    return [title, ...described];
  });
  return `${lines.join('\n')}\n`;
}

/** A description by a user may have any length, and contain control sequences of a terminal. */
function onOneLine(text: string): string {
  return shortenMessage(text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim());
}
