/** Who may do what with which rows, as text for a person; of a single table with the SQL that decides it. */
import type { AccessReport, DefinerAccess, Sentence, TableAccess } from '../../index.ts';
import { type Paint, printable, printableSql } from './terminal.ts';

const colours = { all: 'yellow', some: 'cyan', none: 'dim' } as const satisfies Record<Sentence['reach'], string>;

export function describeAccess({ schemas, tables, definers }: AccessReport, showsSql: boolean, paint: Paint): string {
  if (tables.length === 0) return `There are no tables in the schemas ${printable(schemas.join(', '))}.\n`;
  const parts = tables.map((table) => describeTable(table, showsSql, paint));
  const executable = definers.filter(({ roles }) => roles.length > 0);
  if (!showsSql && executable.length > 0) parts.push(describeDefiners(executable, paint));
  return `${parts.join('\n\n')}\n`;
}

function describeTable({ schema, name, kind, sentences, notes, policies, sql }: TableAccess, showsSql: boolean, paint: Paint): string {
  const title = paint('bold', printable(`${schema}.${name}`)) + (kind === 'table' ? '' : ` (${kind})`);
  const lines = [
    title,
    ...sentences.map(({ text, reach }) => `  ${paint(colours[reach], printable(text))}`),
    ...notes.map(({ text, isWarning }) => `  ${isWarning ? paint('red', printable(`Note: ${text}`)) : paint('dim', printable(text))}`),
  ];
  if (!showsSql) return lines.join('\n');
  const shown = policies.flatMap((policy) => ['', `  ${printable(policy.name)}: ${printable(policy.text)}`, indent(policy.sql)]);
  return [...lines, ...(sql === '' ? [] : ['', indent(sql)]), ...shown].join('\n');
}

function describeDefiners(definers: readonly DefinerAccess[], paint: Paint): string {
  const lines = definers.map(({ name, owner, ownerBypassesRowSecurity, roles }) => {
    const power = ownerBypassesRowSecurity ? ', to whom no policy applies' : '';
    return `  ${printable(`${name} runs as ${owner}${power}; ${roles.join(', ')} may call it`)}`;
  });
  return [paint('bold', 'Functions that run as their owner (security definer)'), ...lines].join('\n');
}

function indent(sql: string): string {
  return `  ${printableSql(sql).replaceAll('\n', '\n  ')}`;
}
