/** An explanation of a request as text for a person, section by section. */
import { limitNames } from '../budget/limits.ts';
import type { Advice, DatabasePlan, DatabasePlanNode, ExplainedStatement, Explanation, PlanTree } from '../index.ts';
import { printable, printableSql } from './printable.ts';
import type { Paint } from './terminal.ts';

const plainPaint: Paint = (_style, text) => text;

/** The text, with a trailing line break. */
export function describeExplanation(explanation: Explanation, paint = plainPaint): string {
  const { operation, role, mode, cost, mismatches, plan, statements, advice } = explanation;
  const rolledBack = mode === 'analyze' && statements.length > 0 ? '; it ran, and was rolled back' : '';
  return [
    paint('bold', printable(`${operation.kind} ${operation.name ?? '(unnamed)'} as ${role}${rolledBack}`)),
    ...(mismatches.length === 0 ? [] : section('--coercion strict would refuse it', mismatches.map(printable), paint)),
    ...section('Cost', describeCounts(cost), paint),
    ...section('Plan', plan === null ? ['too long to show'] : drawTrees(plan), paint),
    ...statements.flatMap((statement, index) => describeStatement(statement, statements.length > 1 ? ` ${index + 1}` : '', paint)),
    ...section('Advice', advice.length === 0 ? ['none'] : advice.flatMap(describeAdvice), paint),
    '',
  ].join('\n');
}

function section(title: string, lines: readonly string[], paint: Paint): string[] {
  return ['', paint('bold', title), ...lines.map((line) => `  ${line}`)];
}

/** The counts worth showing; the others are 0, or need the response. */
function describeCounts({ counts, limits }: Explanation['cost']): string[] {
  return limitNames.flatMap((name) => {
    const count = counts[name];
    if (count === null || count === 0) return [];
    return [`${name.padEnd(16)}${count.toLocaleString('en-US')} of ${limits[name]?.toLocaleString('en-US') ?? 'any number'}`];
  });
}

function drawTrees(trees: readonly PlanTree[], indent = ''): string[] {
  return trees.flatMap(({ label, children }) => [`${indent}${printable(label)}`, ...drawTrees(children, `${indent}  `)]);
}

function describeStatement({ text, parameters, databasePlan }: ExplainedStatement, number: string, paint: Paint): string[] {
  const values = parameters.map((value, index) => `$${index + 1} = ${value === null ? 'null' : printable(JSON.stringify(value))}`);
  return [
    ...section(`SQL${number}`, printableSql(text).split('\n'), paint),
    ...(values.length > 0 ? ['', ...values.map((line) => `  ${line}`)] : []),
    ...(databasePlan === null ? [] : section(`PostgreSQL's plan${number}`, describePlan(databasePlan), paint)),
  ];
}

function describePlan({ root, planningMillis, executionMillis }: DatabasePlan): string[] {
  const times = executionMillis === null ? [] : [`planned in ${planningMillis} ms, ran in ${executionMillis} ms`];
  return [...describeNode(root, ''), ...times];
}

/** In PostgreSQL's own text format. */
function describeNode(node: DatabasePlanNode, indent: string): string[] {
  const { name, estimate, actual, conditions, sortKeys, children } = node;
  const measured = actual === null ? '' : describeActual(actual);
  const below = `${indent}  `;
  return [
    printable(
      `${indent}${name === null ? '' : `${name}: `}${describeType(node)}  (cost ${estimate.totalCost}, rows ${estimate.rows}${measured})`,
    ),
    ...conditions.map(({ kind, text }) => printable(`${below}  ${kind}: ${text}`)),
    ...(sortKeys.length > 0 ? [printable(`${below}  Sort Key: ${sortKeys.join(', ')}`)] : []),
    ...children.flatMap((child) => describeNode(child, below)),
  ];
}

function describeActual({ rows, loops, milliseconds, removed }: NonNullable<DatabasePlanNode['actual']>): string {
  if (loops === 0) return '; never ran';
  const more = removed > 0 ? `, ${removed} removed` : '';
  return `; really ${rows} rows${more} in ${milliseconds} ms${loops === 1 ? '' : `, ${loops} times`}`;
}

function describeType({ type, index, table, function: routine }: DatabasePlanNode): string {
  const using = index === null ? '' : ` using ${index}`;
  const on = table === null ? '' : ` on ${table.schema}.${table.name}${table.alias === table.name ? '' : ` ${table.alias}`}`;
  return `${type}${using}${on}${routine === null ? '' : ` ${routine}`}`;
}

function describeAdvice({ code, table, message, sql }: Advice): string[] {
  return [printable(`${code}: ${table}: ${message}`), `  ${printableSql(sql)}`];
}
