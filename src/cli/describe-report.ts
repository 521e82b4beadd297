/** A report of the doctor as text for a person: by severity and code, a line for each finding, and under it the SQL that puts it right. */
import type { DoctorReport, Finding, Severity } from '../index.ts';

const headings: Readonly<Record<Severity, readonly [one: string, many: string]>> = {
  error: ['error', 'errors'],
  warning: ['warning', 'warnings'],
  info: ['note', 'notes'],
};
const severities: readonly Severity[] = ['error', 'warning', 'info'];

/** How much of what a finding contains is named. */
const maxContained = 8;

/** The text, with a line break at its end. */
export function describeReport({ role, schemas, findings }: DoctorReport): string {
  const lines = [`Role ${role}, schemas ${schemas.join(', ')}:`];
  for (const severity of severities) {
    const found = findings.filter((finding) => finding.severity === severity);
    if (found.length === 0) continue;
    lines.push('', countOf(severity, found.length));
    for (const [code, ofCode] of Map.groupBy(found, (finding) => finding.code)) lines.push(`  ${code}`, ...ofCode.flatMap(describeFinding));
  }
  return `${[...lines, '', summaryOf(findings)].map(printable).join('\n')}\n`;
}

/** `2 errors, 1 warning, 3 notes`. */
function summaryOf(findings: readonly Finding[]): string {
  const counts = severities.map((severity) => [severity, findings.filter((finding) => finding.severity === severity).length] as const);
  const told = counts.filter(([, count]) => count > 0).map(([severity, count]) => countOf(severity, count));
  return told.join(', ') || 'nothing to report';
}

function countOf(severity: Severity, count: number): string {
  return `${count} ${headings[severity][count === 1 ? 0 : 1]}`;
}

function describeFinding({ object, name, message, remedy, contains }: Finding): string[] {
  const named = contains.slice(0, maxContained).map((part) => part.replace(`${name}.`, ''));
  const more = contains.length > maxContained ? ` and ${contains.length - maxContained} more` : '';
  return [
    `    ${object} ${name}: ${message}`,
    ...(contains.length > 0 ? [`      with it: ${named.join(', ')}${more}`] : []),
    ...(remedy === null ? [] : [`      ${remedy}`]),
  ];
}

/** Names in PostgreSQL may hold any character; a terminal obeys some. */
function printable(line: string): string {
  return line.replaceAll(/\p{Cc}+/gu, ' ');
}
