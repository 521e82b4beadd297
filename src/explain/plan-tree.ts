/** Shows a plan as a tree of lines: what it reads, writes or calls, by response key. */
import { sharedPath } from '../errors/input-path.ts';
import type { Relation, Table } from '../model/model.ts';
import type { Routine } from '../model/routine.ts';
import type { OrderKey } from '../plan/conditions.ts';
import type { NestedStep } from '../plan/nested-write-plan.ts';
import type { Count, Parameter, ParameterValue } from '../plan/parameter.ts';
import type {
  AggregateValue,
  Assignment,
  ConflictPlan,
  ConnectionPlan,
  ConnectionValue,
  DeletePlan,
  GroupBy,
  Page,
  Plan,
  ResultPlan,
  RootValue,
  RowPlan,
  RowValue,
  UpdatePlan,
} from '../plan/plan.ts';
import { traitsOfFilter } from '../plan/traits/filter-traits.ts';
import { traitsOfOrder } from '../plan/traits/order-traits.ts';
import { type Path, type PlanNode, readsPage, walkPlan } from '../plan/walk.ts';
import type { PlanTree } from './explanation.ts';

interface GrowingTree extends PlanTree {
  readonly children: GrowingTree[];
}

export function drawPlan(plan: Plan): PlanTree[] {
  const trees: GrowingTree[] = [];
  walkPlan(plan, trees, draw);
  return trees;
}

/** Adds the line of a part, if it has one. Returns where the lines of the parts in it go. */
function draw(node: PlanNode, path: Path, trees: GrowingTree[]): GrowingTree[] {
  const label = describeNode(node, path.at(-1) ?? '');
  if (label === null) return trees;
  const children: GrowingTree[] = [];
  trees.push({ label, children });
  return node.kind === 'row' ? trees : children;
}

function describeNode(node: PlanNode, key: string): string | null {
  switch (node.kind) {
    case 'root':
      return describeRoot(node.value, key);
    case 'row': {
      const columns = columnsOf(node.value);
      return columns.length > 0 ? `columns ${columns.join(', ')}` : null;
    }
    case 'row value':
      return describeRowValue(node.value, key);
    case 'connection value':
      return node.value.kind === 'edges' ? null : `${key}: ${describeConnectionValue(node.value)}`;
    case 'edge value':
      return node.value.kind === 'node' ? key : 'cursor';
    case 'response value':
      if (node.value.kind === 'affected count') return `${key}: the number of rows`;
      return node.value.kind === 'query' ? `${key}: after the write` : key;
    case 'step':
      return describeStep(node.value);
    default:
      return null;
  }
}

function describeRoot(value: RootValue, key: string): string {
  switch (value.kind) {
    case 'type name':
      return `${key}: the type name`;
    case 'introspection':
      return `${key}: introspection, without the database`;
    case 'connection':
      return `${key}: rows of ${describeConnection(value)}`;
    case 'lookup': {
      const columns = value.key.map(({ column, parameter }) => `${column.name} = ${textOf(parameter)}`).join(' and ');
      return `${key}: one row of ${nameOf(value.table)} by ${columns}`;
    }
    case 'routine':
      return `${key}: call ${nameOf(value.routine)}${describeResult(value.result)}`;
    case 'insert': {
      const rows = `${value.rows.length} ${value.rows.length === 1 ? 'row' : 'rows'}`;
      return `${key}: insert ${rows} into ${nameOf(value.table)}${describeConflict(value.onConflict)}`;
    }
    case 'update': {
      const set = [
        ...value.set.map(({ column }) => column.name),
        ...value.increment.map(describeIncrement),
        ...value.json.map(({ column }) => `a part of ${column.name}`),
      ].join(', ');
      return `${key}: update ${nameOf(value.table)}, set ${set}${describeRestriction(value)}`;
    }
    case 'delete':
      return `${key}: delete from ${nameOf(value.table)}${describeRestriction(value)}`;
    case 'nested write':
      return `${key}: ${value.verb} with related rows`;
  }
}

function describeRowValue(value: RowValue, key: string): string | null {
  switch (value.kind) {
    case 'to-one':
      return `${key}: one row of ${nameOf(value.relation.target)} by ${pairsOf(value.relation)}`;
    case 'to-many':
      return `${key} by ${pairsOf(value.relation)}: rows of ${describeConnection(value.connection)}`;
    case 'lineage': {
      const { lineage, maxDepth, connection } = value;
      return `${key}: ${lineage.direction} by ${pairsOf(lineage.parent)}, at most ${countOf(maxDepth)} levels: rows of ${describeConnection(connection)}`;
    }
    case 'computed':
      return `${key}: call ${nameOf(value.routine)} for the row${describeResult(value.result)}`;
    case 'row column':
      return `${key}: ${value.list ? 'rows' : 'a row'} in the column ${value.column.name}`;
    default:
      return null;
  }
}

function describeResult(result: ResultPlan): string {
  return result.kind === 'rows' ? `: returning rows of ${describeConnection(result.connection)}` : '';
}

function columnsOf({ members }: RowPlan): readonly string[] {
  const names = members.flatMap(({ name, value }) => {
    if (value.kind === 'column' || value.kind === 'bounds') return [value.column.name];
    if (value.kind === 'json part') return [`${value.column.name} at ${textOf(value.path)}`];
    return value.kind === 'node id' ? [name] : [];
  });
  return [...new Set(names)];
}

function describeStep({ kind, table, paths }: NestedStep): string {
  const rows = `${paths.length} ${paths.length === 1 ? 'input' : 'inputs'}`;
  const verb = kind === 'insert' ? 'insert into' : kind;
  return `${verb} ${nameOf(table)}, ${sharedPath(paths)}: ${rows}`;
}

function describeConflict(conflict: ConflictPlan | null): string {
  if (conflict === null) return '';
  const { arbiter, columns, increment, filter } = conflict;
  const changes = [...columns.map(({ name }) => name), ...increment.map(describeIncrement)];
  if (changes.length === 0) return `, on conflict by ${arbiter.valueName} do nothing`;
  return `, on conflict by ${arbiter.valueName} update ${changes.join(', ')}${filter === null ? '' : `, where ${traitsOfFilter(filter).text(textOf)}`}`;
}

function describeIncrement({ column, parameter }: Assignment): string {
  return `${column.name} + ${textOf(parameter)}`;
}

function describeRestriction({ filter, atMost }: UpdatePlan | DeletePlan): string {
  return `${filter === null ? '' : `, where ${traitsOfFilter(filter).text(textOf)}`}, at most ${textOf(atMost)}`;
}

function describeConnection(plan: ConnectionPlan): string {
  const { table, page, filter, distinct } = plan;
  const where = filter === null ? '' : `, where ${traitsOfFilter(filter).text(textOf)}`;
  const first = distinct === null ? '' : `, the first by ${describeOrder(distinct.order)} of each ${describeOrder(distinct.keys)}`;
  return `${nameOf(table)}${where}${first}${readsPage(plan) ? describePage(page) : ''}`;
}

function describePage({ direction, limit, offset, cursor, keys }: Page): string {
  return [
    keys.length > 0 ? `, order by ${describeOrder(keys)}` : '',
    cursor === null ? '' : `, ${direction === 'forward' ? 'after' : 'before'} a cursor`,
    `, ${direction === 'forward' ? 'first' : 'last'} ${countOf(limit)}`,
    offset === null ? '' : `, offset ${countOf(offset)}`,
  ].join('');
}

function describeOrder(keys: readonly OrderKey[]): string {
  const order = keys.map(({ value, descending, nullsFirst }) => {
    const isNeverNull = traitsOfOrder(value).column?.notNull === true;
    const nulls = isNeverNull || nullsFirst === descending ? '' : nullsFirst ? ' nulls first' : ' nulls last';
    return `${traitsOfOrder(value).text(textOf)}${descending ? ' desc' : ''}${nulls}`;
  });
  return order.join(', ');
}

function countOf(count: Count): string {
  return typeof count === 'number' ? String(count) : textOf(count);
}

function describeConnectionValue(value: Exclude<ConnectionValue, { kind: 'type name' | 'edges' }>): string {
  switch (value.kind) {
    case 'total count':
      return value.estimate ? 'the number of all rows, which may be an estimate' : 'the number of all rows';
    case 'aggregate':
      return value.members.flatMap(({ value: member }) => aggregateOf(member)).join(', ');
    case 'groups':
      return `groups by ${value.groups.by.map(groupedBy).join(', ')}, first ${countOf(value.groups.limit)}`;
    case 'page info':
      return value.members.flatMap(({ value: member }) => (member.kind === 'type name' ? [] : [member.kind])).join(', ');
  }
}

function groupedBy(by: GroupBy): string {
  const name = [...by.path.map(({ fieldName }) => fieldName), ...[...by.within, by.column].map((column) => column.name)].join('.');
  if (by.kind === 'value') return name;
  if (by.kind === 'json value') return `${name} at ${textOf(by.keys)} as ${by.as.toLowerCase()}`;
  return by.kind === 'truncated' ? `the ${by.unit} of ${name}` : `ranges of ${name} of width ${textOf(by.width)}`;
}

function aggregateOf(value: AggregateValue): string[] {
  if (value.kind === 'count') return ['count'];
  if (value.kind === 'type name') return [];
  const columns = value.members.flatMap(({ value: member }) => (member.kind === 'column' ? [member.column.name] : []));
  return columns.map((column) => `${value.name} of ${column}`);
}

function pairsOf({ columns }: Relation): string {
  return columns.map(({ near, target }) => `${target} = ${near}`).join(' and ');
}

const maxValueLength = 60;

function textOf({ value }: Parameter): string {
  const text = valueText(value);
  return text.length > maxValueLength ? `${text.slice(0, maxValueLength)}…` : text;
}

function valueText(value: ParameterValue): string {
  switch (value.kind) {
    case 'constant':
      return JSON.stringify(value.value);
    case 'variable':
      return 'a variable';
    case 'list':
      return `[${value.items.map(valueText).join(', ')}]`;
    case 'composite':
      return `{${[...value.attributes].map(([name, each]) => `${name}: ${valueText(each)}`).join(', ')}}`;
    case 'range':
      return `from ${boundText(value.parts.get('lower'))} to ${boundText(value.parts.get('upper'))}`;
    case 'null bounds':
      return 'null';
    case 'shaped':
      return valueText(value.value);
    case 'version':
      return 'the schema version';
  }
}

function boundText(bound: ParameterValue | undefined): string {
  return bound === undefined ? 'any' : valueText(bound);
}

function nameOf(of: Table | Routine): string {
  return `${of.schema}.${of.name}${'placement' in of && of.placement !== null ? describePlacement(of.placement) : ''}`;
}

function describePlacement({ kind, column }: NonNullable<Table['placement']>): string {
  if (kind === 'view') return '';
  return kind === 'distributed' ? ` (distributed by ${column})` : ` (${kind === 'local' ? 'on the coordinator' : kind})`;
}
