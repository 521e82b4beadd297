/** Shows a plan as a tree of lines: what it reads, writes or calls, by response key. */
import type { Relation, Routine, Table } from '../model/model.ts';
import type { NestedStep } from '../plan/nested-write-plan.ts';
import type {
  AggregateValue,
  ConflictPlan,
  ConnectionPlan,
  ConnectionValue,
  Count,
  EdgeValue,
  Filter,
  GroupBy,
  Member,
  OrderValue,
  Page,
  Parameter,
  ParameterValue,
  Plan,
  ResponseValue,
  ResultPlan,
  RootValue,
  RowPlan,
  RowValue,
  Test,
} from '../plan/plan.ts';
import type { PlanTree } from './explanation.ts';

/** A tree for each root field. */
export function drawPlan({ roots }: Plan): PlanTree[] {
  return roots.map(({ key, value }) => drawRoot(key, value));
}

function tree(label: string, children: readonly PlanTree[] = []): PlanTree {
  return { label, children };
}

function drawRoot(key: string, value: RootValue): PlanTree {
  switch (value.kind) {
    case 'type name':
      return tree(`${key}: the type name`);
    case 'introspection':
      return tree(`${key}: introspection, without the database`);
    case 'connection':
      return drawConnection(key, value, 'rows of');
    case 'lookup': {
      const columns = value.key.map(({ column, parameter }) => `${column.name} = ${textOf(parameter)}`).join(' and ');
      return tree(`${key}: one row of ${nameOf(value.table)} by ${columns}`, drawRow(value.row));
    }
    case 'routine':
      return drawResult(`${key}: call ${nameOf(value.routine)}`, value.result);
    case 'insert': {
      const rows = `${value.rows.length} ${value.rows.length === 1 ? 'row' : 'rows'}`;
      return tree(`${key}: insert ${rows} into ${nameOf(value.table)}${drawConflict(value.onConflict)}`, drawResponse(value.members));
    }
    case 'update': {
      const added = value.increment.map(({ column, parameter }) => `${column.name} + ${textOf(parameter)}`);
      const set = [...value.set.map(({ column }) => column.name), ...added].join(', ');
      return tree(
        `${key}: update ${nameOf(value.table)}, set ${set}${restrictionOf(value.filter, value.atMost)}`,
        drawResponse(value.members),
      );
    }
    case 'nested write':
      return tree(`${key}: ${value.verb} with related rows`, [...value.steps.map(drawStep), ...drawResponse(value.members)]);
    case 'delete':
      return tree(`${key}: delete from ${nameOf(value.table)}${restrictionOf(value.filter, value.atMost)}`, drawResponse(value.members));
  }
}

/** A statement of a nested write. */
function drawStep({ kind, table, place, paths }: NestedStep): PlanTree {
  const rows = `${paths.length} ${paths.length === 1 ? 'input' : 'inputs'}`;
  const verb = kind === 'insert' ? 'insert into' : kind;
  return tree(`${verb} ${nameOf(table)}, ${place}: ${rows}`);
}

function drawConflict(conflict: ConflictPlan | null): string {
  if (conflict === null) return '';
  const { arbiter, columns, increment, filter } = conflict;
  const changes = [
    ...columns.map(({ name }) => name),
    ...increment.map(({ column, parameter }) => `${column.name} + ${textOf(parameter)}`),
  ];
  if (changes.length === 0) return `, on conflict by ${arbiter.valueName} do nothing`;
  return `, on conflict by ${arbiter.valueName} update ${changes.join(', ')}${filter === null ? '' : `, where ${drawFilter(filter)}`}`;
}

function restrictionOf(filter: Filter | null, atMost: Parameter): string {
  return `${filter === null ? '' : `, where ${drawFilter(filter)}`}, at most ${textOf(atMost)}`;
}

function drawResponse(members: readonly Member<ResponseValue>[]): PlanTree[] {
  return members.flatMap(({ key, value }) => {
    if (value.kind === 'records') return [tree(key, drawRow(value.row))];
    if (value.kind === 'edges')
      return [
        tree(
          key,
          value.members.flatMap((edge) => drawEdge(edge.key, edge.value)),
        ),
      ];
    if (value.kind === 'query')
      return [
        tree(
          `${key}: after the write`,
          value.members.map((member) => drawRoot(member.key, member.value)),
        ),
      ];
    return value.kind === 'affected count' ? [tree(`${key}: the number of rows`)] : [];
  });
}

function drawConnection(key: string, { table, page, filter, members }: ConnectionPlan, what: string): PlanTree {
  const readsPage = members.some(({ value }) => value.kind === 'edges' || value.kind === 'page info');
  const where = filter === null ? '' : `, where ${drawFilter(filter)}`;
  return tree(
    `${key}: ${what} ${nameOf(table)}${where}${readsPage ? drawPage(page) : ''}`,
    members.flatMap((member) => drawConnectionMember(member)),
  );
}

function drawPage({ direction, limit, offset, cursor, keys }: Page): string {
  const order = keys.map(({ value, descending, nullsFirst }) => {
    const isNeverNull = value.kind === 'column' && value.column.notNull;
    const nulls = isNeverNull || nullsFirst === descending ? '' : nullsFirst ? ' nulls first' : ' nulls last';
    return `${drawOrderValue(value)}${descending ? ' desc' : ''}${nulls}`;
  });
  return [
    order.length > 0 ? `, order by ${order.join(', ')}` : '',
    cursor === null ? '' : `, ${direction === 'forward' ? 'after' : 'before'} a cursor`,
    `, ${direction === 'forward' ? 'first' : 'last'} ${countOf(limit)}`,
    offset === null ? '' : `, offset ${countOf(offset)}`,
  ].join('');
}

function drawOrderValue(value: OrderValue): string {
  switch (value.kind) {
    case 'column':
      return value.column.name;
    case 'computed':
      return `${nameOf(value.routine)}()`;
    case 'related':
      return `${value.rows.fieldName}.${drawOrderValue(value.value)}`;
    case 'aggregate':
      return `${value.function} of ${value.rows.fieldName}${value.function === 'count' ? '' : `.${value.column.name}`}`;
  }
}

function countOf(count: Count): string {
  return typeof count === 'number' ? String(count) : textOf(count);
}

function drawConnectionMember({ key, value }: Member<ConnectionValue>): PlanTree[] {
  switch (value.kind) {
    case 'edges':
      return value.members.flatMap(({ key: name, value: edge }) => drawEdge(name, edge));
    case 'total count':
      return [tree(`${key}: the number of all rows`)];
    case 'aggregate':
      return [tree(`${key}: ${value.members.flatMap(({ value: member }) => aggregateOf(member)).join(', ')}`)];
    case 'groups':
      return [tree(`${key}: groups by ${value.groups.by.map(groupedBy).join(', ')}, first ${countOf(value.groups.limit)}`)];
    case 'page info':
      return [
        tree(`${key}: ${value.members.flatMap(({ value: member }) => (member.kind === 'type name' ? [] : [member.kind])).join(', ')}`),
      ];
    case 'type name':
      return [];
  }
}

function groupedBy(by: GroupBy): string {
  const name = [...by.path.map(({ fieldName }) => fieldName), by.column.name].join('.');
  if (by.kind === 'value') return name;
  return by.kind === 'truncated' ? `the ${by.unit} of ${name}` : `ranges of ${name} of width ${textOf(by.width)}`;
}

function aggregateOf(value: AggregateValue): string[] {
  if (value.kind === 'count') return ['count'];
  if (value.kind === 'type name') return [];
  const columns = value.members.flatMap(({ value: member }) => (member.kind === 'column' ? [member.column.name] : []));
  return columns.map((column) => `${value.name} of ${column}`);
}

function drawEdge(key: string, value: EdgeValue): PlanTree[] {
  if (value.kind === 'node') return [tree(key, drawRow(value.row))];
  return value.kind === 'cursor' ? [tree('cursor')] : [];
}

/** Columns on one line, then values that need subqueries. */
function drawRow({ members }: RowPlan): PlanTree[] {
  const columns = members.flatMap(({ name, value }) => {
    if (value.kind === 'column') return [value.column.name];
    return value.kind === 'node id' ? [name] : [];
  });
  const line = columns.length > 0 ? [tree(`columns ${[...new Set(columns)].join(', ')}`)] : [];
  return [...line, ...members.flatMap(({ key, value }) => drawRowMember(key, value))];
}

function drawRowMember(key: string, value: RowValue): PlanTree[] {
  switch (value.kind) {
    case 'to-one':
      return [tree(`${key}: one row of ${nameOf(value.relation.target)} by ${pairsOf(value.relation)}`, drawRow(value.row))];
    case 'to-many':
      return [drawConnection(`${key} by ${pairsOf(value.relation)}`, value.connection, 'rows of')];
    case 'computed':
      return [drawResult(`${key}: call ${nameOf(value.routine)} for the row`, value.result)];
    case 'row column':
      return [tree(`${key}: ${value.list ? 'rows' : 'a row'} in the column ${value.column.name}`, drawRow(value.row))];
    default:
      return [];
  }
}

function pairsOf({ columns }: Relation): string {
  return columns.map(({ near, target }) => `${target} = ${near}`).join(' and ');
}

function drawResult(label: string, result: ResultPlan): PlanTree {
  if (result.kind === 'row' || result.kind === 'row list') return tree(label, drawRow(result.row));
  if (result.kind === 'rows') return drawConnection(label, result.connection, 'returning rows of');
  return tree(label);
}

/** A filter in SQL-like form, with its bind values. */
function drawFilter(filter: Filter): string {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return filter.filters.length === 0 ? String(filter.kind === 'and') : `(${filter.filters.map(drawFilter).join(` ${filter.kind} `)})`;
    case 'not':
      return `not ${drawFilter(filter.filter)}`;
    case 'null test':
      return `${filter.column.name} is ${filter.isNull ? 'null' : 'not null'}`;
    case 'comparison':
      return `${filter.column.name} ${filter.operator} ${textOf(filter.parameter)}`;
    case 'related rows':
      return `${filter.quantifier} ${relatedText(filter)}`;
    case 'related count':
      return `count of ${relatedText(filter)} ${filter.tests.map(countTestText).join(' and ')}`;
  }
}

function relatedText({ rows, filter }: Extract<Filter, { rows: unknown }>): string {
  return `${rows.fieldName}${filter ? ` (${drawFilter(filter)})` : ''}`;
}

function countTestText(test: Test): string {
  return test.kind === 'null test' ? `is ${test.isNull ? 'null' : 'not null'}` : `${test.operator} ${textOf(test.parameter)}`;
}

/** Longer values are cut off. */
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
    case 'version':
      return 'the schema version';
  }
}

function nameOf({ schema, name }: Table | Routine): string {
  return `${schema}.${name}`;
}
