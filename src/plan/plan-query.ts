/** Plans fields of `Query`: those of a query, and those of the field `query` of a mutation. */
import { ApiError } from '../errors/api-error.ts';
import type { Model, Table } from '../model/model.ts';
import type { IdentifierValue } from '../request/input-value.ts';
import { argumentOf, bindingAt, type SelectedField } from '../request/operation.ts';
import { keyOfNodeId } from './node-key.ts';
import { valueParameter } from './parameters.ts';
import type { IntrospectionPlan, LookupPlan, Member, QueryValue } from './plan.ts';
import { planMembers } from './plan-members.ts';
import { planRoutine } from './plan-routine.ts';
import { planConnection, planRow } from './plan-selection.ts';

/** Plans what to read for a field of Query. */
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
      return planConnection(field, binding.table);
    case 'by key':
      return planLookup(binding.table, keyOfArguments(field), field.selection);
    case 'node':
      return planNode(field, model);
    case 'routine':
      return planRoutine(field, binding.routine);
  }
}

function keyOfArguments(field: SelectedField): LookupPlan['key'] {
  return field.arguments.map((argument) => {
    const { column } = bindingAt('lookup', argument);
    return { column, parameter: valueParameter(argument.value, column.type, 'filter') };
  });
}

function planLookup(table: Table, key: LookupPlan['key'], selection: readonly SelectedField[]): LookupPlan {
  return { kind: 'lookup', table, key, row: planRow(selection, table, 1) };
}

function planNode(field: SelectedField, model: Model): LookupPlan {
  const id = argumentOf(field, model.nodeIdField) as IdentifierValue;
  const table = model.tables.find((each) => each.selectable && each.schema === id.schema && each.name === id.table);
  if (!table)
    throw new ApiError(
      'BAD_USER_INPUT',
      `The nodeId in the argument "${model.nodeIdField}" does not identify a table that this role can read.`,
    );
  return planLookup(table, keyOfNodeId(id, table, model.nodeIdField), field.on(table.typeName));
}
