/** An explanation of a request as text for a person, section by section. */
import { limitNames } from '../../budget/limits.ts';
import type { AdviceGroup } from '../../explain/advise.ts';
import type {
  Advice,
  DatabasePlan,
  DatabasePlanNode,
  ExplainedStatement,
  Explanation,
  LiveExplanation,
  OperationCost,
  PlanTree,
  RequestCost,
} from '../../index.ts';
import { type Paint, printable, printableSql } from './terminal.ts';

const plainPaint: Paint = (_style, text) => text;

export function describeExplanation(explanation: Explanation, paint = plainPaint): string {
  const { operation, role, mode, cost, mismatches, plan, statements, advice, live } = explanation;
  const rolledBack = mode === 'analyze' && statements.length > 0 ? '; it ran, and was rolled back' : '';
  return [
    paint('bold', printable(`${operation.kind} ${operation.name ?? '(unnamed)'} as ${role}${rolledBack}`)),
    ...(mismatches.length === 0 ? [] : section('--coercion strict would refuse it', mismatches.map(printable), paint)),
    ...section('Cost', describeCounts(cost), paint),
    ...section('Plan', plan === null ? ['too long to show'] : drawTrees(plan), paint),
    ...statements.flatMap((statement, index) => describeStatement(statement, statements.length > 1 ? ` ${index + 1}` : '', paint)),
    ...(live === null || live.unannounced.length === 0 ? [] : section('As a live query', describeLive(live), paint)),
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

function describeLive({ isShared, isTraced, unannounced }: LiveExplanation): string[] {
  const shared = isShared ? 'answers are shared by all callers of the role' : 'answers depend on the claims of the caller';
  const traced = isTraced ? ['each evaluation finds out anew which tables its functions read'] : [];
  const silent = unannounced.map((each) => `no change is announced of ${printable(each)}`);
  const remedy =
    silent.length === 0 ? [] : ['set --live-refresh, or comment the table or function with @graphql({"live": {"refresh": seconds}})'];
  return [shared, ...traced, ...silent, ...remedy];
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
  return `; really ${counted(rows, 'row')}${more} in ${milliseconds} ms${loops === 1 ? '' : `, ${loops} times`}`;
}

function describeType({ type, index, table, function: routine, tasks }: DatabasePlanNode): string {
  if (tasks !== null) return `${type} in ${tasks === 1 ? 'one task' : `${tasks} tasks, a shard each, of which one is shown`}`;
  const using = index === null ? '' : ` using ${index}`;
  const on = table === null ? '' : ` on ${table.schema}.${table.name}${table.alias === table.name ? '' : ` ${table.alias}`}`;
  return `${type}${using}${on}${routine === null ? '' : ` ${routine}`}`;
}

function describeAdvice({ code, table, message, sql }: Advice): string[] {
  return [printable(`${code}: ${table}: ${message}`), `  ${printableSql(sql)}`];
}

export interface AdviceReport {
  readonly explained: number;
  readonly groups: readonly AdviceGroup[];
  /** Operations that could not be explained, and why. */
  readonly failed: readonly { readonly name: string; readonly reason: string }[];
}

const maxNamed = 8;

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
