/** Plans what to read: fields of `Query`, rows, connections, and results of functions. */
import { ApiError, quote } from '../../errors/api-error.ts';
import type { Lineage, Model, Table } from '../../model/model.ts';
import type { Routine, RoutineArgument } from '../../model/routine.ts';
import { isJson, namedTypes, rangesOf } from '../../model/types/named-types.ts';
import { boundsName } from '../../model/types/operators.ts';
import { argumentOf, bindingAt, type IdentifierValue, type SelectedField, valueAt } from '../../request/operation.ts';
import type { OrderKey } from '../conditions.ts';
import { countOf, isUnsent, keyOfNodeId, planMembers, rangeValue, valueParameter, withoutNulls } from '../inputs.ts';
import type {
  ConnectionPlan,
  ConnectionValue,
  CountEstimate,
  EdgeValue,
  IntrospectionPlan,
  LookupPlan,
  Member,
  PageInfoValue,
  QueryValue,
  RangeValue,
  ResultPlan,
  RoutineInput,
  RoutinePlan,
  RowPlan,
  RowValue,
} from '../plan.ts';
import { resultReadsBeyond } from '../walk.ts';
import { combine, planFilter } from './filter.ts';
import { planFusion } from './fusion.ts';
import { planAggregate, planGroups } from './groups.ts';
import { planNearest } from './nearest.ts';
import { type Found, foundByNothing, planDistinct, planListPage, planPage } from './page.ts';
import { planSearch, planSnippet } from './search.ts';

export function planQueryField(field: SelectedField, model: Model): QueryValue | IntrospectionPlan {
  if (field.binding) return planRead(field, model);
  return field.name === '__typename' ? { kind: 'type name', name: field.parentType } : { kind: 'introspection' };
}

/** Plans the field `query` of a mutation. Throws GRAPHQL_VALIDATION_FAILED for introspection, which the database cannot answer. */
export function planQueryMembers({ selection }: SelectedField, model: Model): Member<QueryValue>[] {
  const introspective = selection.find(({ binding, name }) => !binding && name !== '__typename');
  if (introspective) {
    const { name, key } = introspective;
    throw new ApiError('GRAPHQL_VALIDATION_FAILED', `A mutation cannot introspect. Ask for "${name}" in a query.`, { path: [key] });
  }
  return planMembers(selection, (field) => planRead(field, model));
}

function planRead(field: SelectedField, model: Model): QueryValue {
  const binding = bindingAt('query', field);
  switch (binding.kind) {
    case 'collection':
      return planConnection(field, binding.table, 1, { isWhole: true });
    case 'stream':
      return planStream(field, binding.table);
    case 'by key':
      return {
        kind: 'lookup',
        table: binding.table,
        key: keyOfArguments(field),
        nulls: [],
        row: planRow(field.selection, binding.table, 1),
      };
    case 'node':
      return planNode(field, model);
    case 'routine':
      return planRoutine(field, binding.routine, binding.asBounds);
  }
}

function keyOfArguments(field: SelectedField): LookupPlan['key'] {
  return field.arguments.map((argument) => {
    const { column } = bindingAt('lookup', argument);
    return { column, parameter: valueParameter(argument.value, column.type, 'filter') };
  });
}

function planNode(field: SelectedField, model: Model): LookupPlan {
  const id = argumentOf(field, model.nodeIdField) as IdentifierValue;
  const table = model.tables.find((each) => each.selectable && each.schema === id.schema && each.name === id.table);
  if (!table)
    throw new ApiError(
      'BAD_USER_INPUT',
      `The nodeId in the argument "${model.nodeIdField}" does not identify a table that this role can read.`,
    );
  const { key, nulls } = withoutNulls(keyOfNodeId(id, table, model.nodeIdField), id, table);
  return { kind: 'lookup', table, key, nulls, row: planRow(field.on(table.typeName), table, 1) };
}

/**
 * Plans the call with the given arguments; PostgreSQL uses its defaults for the others. Throws BAD_USER_INPUT for a function that no field
 * can call.
 */
export function planRoutine(field: SelectedField, routine: Routine, asBounds = false): RoutinePlan {
  const { unreachableArgument } = routine;
  if (unreachableArgument !== null) {
    const problem = `GraphQL does not allow the name of its argument ${quote(unreachableArgument)}, which it requires`;
    throw new ApiError('BAD_USER_INPUT', `The function cannot be called: ${problem}. Rename the argument in the database.`);
  }
  const result = planResult(field, routine, 1, asBounds);
  return {
    kind: 'routine',
    routine,
    arguments: inputsOf(field, routine),
    result,
    readsAfter: routine.volatile && resultReadsBeyond(result),
  };
}

/** Throws BAD_USER_INPUT for ranges that are given twice, as text and by their bounds, or that are required and are not given at all. */
function inputsOf(field: SelectedField, routine: Routine): readonly RoutineInput[] {
  const given = field.arguments.filter(({ binding }) => binding?.at === 'routine');
  const inputs = given.flatMap((each): RoutineInput[] => {
    const { kind, argument } = bindingAt('routine', each);
    if (kind === 'argument') return [{ argument, parameter: valueParameter(each.value, argument.type, 'write') }];
    if (isUnsent(each.value)) return [];
    return [{ argument, parameter: { value: rangeValue(each.value), encoding: { kind: 'value', type: argument.type, use: 'write' } } }];
  });
  if (routine.hasBounds) for (const argument of routine.arguments) if (rangesOf(argument.type)) checkGiven(argument, inputs);
  return inputs;
}

function checkGiven(argument: RoutineArgument, inputs: readonly RoutineInput[]): void {
  const count = inputs.filter((input) => input.argument === argument).length;
  const name = quote(argument.argumentName);
  const other = quote(boundsName(argument.argumentName));
  if (count > 1)
    throw new ApiError('BAD_USER_INPUT', `The argument ${name} is given twice, as ${name} and as ${other}. Leave out one of them.`);
  if (count === 0 && argument.required) throw new ApiError('BAD_USER_INPUT', `The argument ${name} is required. Give it, or ${other}.`);
}

/** The deepest nesting of relations: each is a subquery inside the previous one, and PostgreSQL plans them together. */
const maxDepth = 50;

/** `found`: what found the row. */
export function planRow(selection: readonly SelectedField[], table: Table, depth: number, found: Found = foundByNothing): RowPlan {
  if (depth > maxDepth)
    throw new ApiError('QUERY_TOO_COMPLEX', `The query nests relations more than ${maxDepth} levels deep. Select fewer levels.`);
  return { table, members: planMembers(selection, (field) => planRowField(field, depth + 1, found)) };
}

function planRowField(field: SelectedField, depth: number, { search, isFused }: Found): RowValue {
  const { selection } = field;
  const binding = bindingAt('row', field);
  switch (binding.kind) {
    case 'column': {
      const { column } = binding;
      const { type, shape } = column;
      if (shape) return { kind: 'row column', column, list: shape.isList, row: planRow(selection, shape.table, depth) };
      const path = isJson(type) ? argumentOf(field, 'path') : undefined;
      // As a filter does, so that a key that no text can be finds nothing.
      if (path) return { kind: 'json part', column, path: valueParameter(path, namedTypes.text, 'filter') };
      if (type.kind !== 'row' && type.kind !== 'row list') return { kind: 'column', column };
      return { kind: 'row column', column, list: type.kind === 'row list', row: planRow(selection, type.table, depth) };
    }
    case 'bounds':
      return { kind: 'bounds', column: binding.column, members: planMembers<RangeValue>(selection, planRangeField) };
    case 'node id':
      return { kind: 'node id' };
    case 'search rank':
      return { kind: 'search rank', search, mayBeNull: isFused };
    case 'search snippet':
      return planSnippet(field, search);
    case 'relation': {
      const { relation } = binding;
      if (relation.kind === 'to-one') return { kind: 'to-one', relation, row: planRow(selection, relation.target, depth) };
      return { kind: 'to-many', relation, connection: planConnection(field, relation.target, depth) };
    }
    case 'lineage': {
      const { lineage } = binding;
      const levels = argumentOf(field, 'maxDepth') ?? null;
      const maxDepth = levels ? countOf(levels, 'maxDepth', lineage.maxDepth) : lineage.maxDepth;
      return { kind: 'lineage', lineage, maxDepth, connection: planConnection(field, lineage.parent.target, depth, { lineage }) };
    }
    case 'computed': {
      const { routine, asBounds } = binding;
      return { kind: 'computed', routine, arguments: inputsOf(field, routine), result: planResult(field, routine, depth, asBounds) };
    }
  }
}

function planRangeField(field: SelectedField): RangeValue {
  return { kind: bindingAt('range', field).kind };
}

function planResult(field: SelectedField, { result }: Routine, depth: number, asBounds = false): ResultPlan {
  switch (result.kind) {
    case 'void':
      return { kind: 'void' };
    case 'value':
      if (asBounds) return { kind: 'bounds', type: result.type, members: planMembers<RangeValue>(field.selection, planRangeField) };
      return { kind: 'value', type: result.type };
    case 'row':
    case 'row list':
      return { kind: result.kind, row: planRow(field.selection, result.table, depth) };
    case 'rows':
      return { kind: 'rows', connection: planConnection(field, result.table, depth) };
    case 'value set':
      return { kind: 'value set', type: result.type, ...planListPage(field, result.maxRows) };
    case 'row set':
      return { kind: 'row set', row: planRow(field.selection, result.table, depth), ...planListPage(field, result.maxRows) };
  }
}

/** The edges as a list, and the cursor from which the stream goes on. */
function planStream(field: SelectedField, table: Table): ConnectionPlan {
  const end: Member<PageInfoValue> = { key: 'endCursor', name: 'endCursor', value: { kind: 'end cursor' } };
  return {
    kind: 'connection',
    table,
    page: planPage(field, table),
    filter: planFilter(argumentOf(field, 'filter'), table),
    distinct: null,
    fusion: null,
    members: [
      { key: 'edges', name: 'edges', value: { kind: 'edges', members: planEdge(field.selection, table, 1) } },
      { key: 'pageInfo', name: 'pageInfo', value: { kind: 'page info', members: [end] } },
    ],
    isStream: true,
  };
}

/** `isWhole`: it is of all rows of its table. */
interface Whose {
  readonly isWhole?: boolean;
  readonly lineage?: Lineage | null;
}

function planConnection(
  field: SelectedField,
  table: Table,
  depth: number,
  { isWhole = false, lineage = null }: Whose = {},
): ConnectionPlan {
  const search = planSearch(valueAt(field.arguments, 'collection', 'search'), table);
  const nearest = planNearest(field, table);
  const filtered = planFilter(argumentOf(field, 'filter'), table);
  const fusion = planFusion(field, table, { search, nearest, filter: filtered });
  const found = { search, distance: nearest?.distance ?? null, lineage, isFused: fusion !== null };
  const distinct = planDistinct(field, table, found);
  const page = planPage(field, table, { found, leading: fusion ? byScore(table) : (nearest?.key ?? null), distinct });
  const filter = fusion ? null : combine('and', [search && { kind: 'search', search }, filtered, nearest?.filter ?? null]);
  const mayEstimate = isWhole && filter === null && distinct === null && fusion === null && hasEstimate(table);
  return {
    kind: 'connection',
    table,
    page,
    filter,
    distinct,
    fusion,
    members: planMembers<ConnectionValue>(field.selection, (member) => planConnectionField(member, table, depth, found, mayEstimate)),
  };
}

function byScore(table: Table): OrderKey {
  return { value: { kind: 'score', table }, descending: true, nullsFirst: false };
}

/** Whether PostgreSQL keeps the number of rows: not of views, foreign and partitioned tables, those that others inherit from, and shards. */
function hasEstimate({ kind, keyIsUnique, additions, placement }: Table): boolean {
  return additions.has('estimatedCounts') && placement === null && (kind === 'materialized view' || (kind === 'table' && keyIsUnique));
}

function planEstimate(field: SelectedField): CountEstimate | null {
  const exact = argumentOf(field, 'exact') ?? null;
  if (exact?.kind === 'variable') return { exact: valueParameter(exact, namedTypes.bool, 'filter') };
  return exact?.kind === 'constant' && exact.value === false ? { exact: null } : null;
}

function planConnectionField(field: SelectedField, table: Table, depth: number, found: Found, mayEstimate: boolean): ConnectionValue {
  const { selection } = field;
  switch (bindingAt('connection', field).kind) {
    case 'edges':
      return { kind: 'edges', members: planEdge(selection, table, depth, found) };
    case 'page info':
      return { kind: 'page info', members: planMembers<PageInfoValue>(selection, planPageInfoField) };
    case 'total count':
      return { kind: 'total count', estimate: mayEstimate ? planEstimate(field) : null };
    case 'aggregate':
      return { kind: 'aggregate', members: planAggregate(selection) };
    case 'groups':
      return { kind: 'groups', groups: planGroups(field, table) };
  }
}

export function planEdge(
  selection: readonly SelectedField[],
  table: Table,
  depth: number,
  found: Found = foundByNothing,
): Member<EdgeValue>[] {
  return planMembers<EdgeValue>(selection, (member) => planEdgeField(member, table, depth, found));
}

function planEdgeField(field: SelectedField, table: Table, depth: number, found: Found): EdgeValue {
  const { kind } = bindingAt('edge', field);
  switch (kind) {
    case 'node':
      return { kind, row: planRow(field.selection, table, depth, found) };
    case 'distance':
      return { kind, distance: found.distance };
    case 'depth':
      return { kind, lineage: found.lineage };
    case 'cursor':
    case 'score':
      return { kind };
  }
}

function planPageInfoField(field: SelectedField): PageInfoValue {
  return { kind: bindingAt('page info', field).kind };
}
