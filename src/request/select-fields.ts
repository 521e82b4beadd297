/**
 * Merges the selections of an operation into fields (https://spec.graphql.org/October2021/#CollectFields()): fragments spread,
 * `@skip` and `@include` decided, selections under one response key joined.
 */
import {
  type DirectiveNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isInterfaceType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type ValueNode,
} from 'graphql';
import { ApiError } from '../errors.ts';
import { fieldBinding, inputBinding } from '../schema/bindings.ts';
import { coerceInputLiteral } from './coerce-input-literal.ts';
import type { InputValue } from './input-value.ts';
import { MalformedIdError } from './opaque-id.ts';
import type { Argument, Operation, SelectedField } from './operation.ts';

interface Context {
  readonly schema: GraphQLSchema;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly variables: ReadonlyMap<string, InputValue>;
}

/** The operation's fields. The document is valid by the schema. */
export function selectFields(
  schema: GraphQLSchema,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  operation: OperationDefinitionNode,
  variables: ReadonlyMap<string, InputValue>,
): Operation {
  const root = schema.getRootType(operation.operation);
  if (!root || operation.operation === 'subscription') {
    throw new ApiError('GRAPHQL_VALIDATION_FAILED', `The schema has no ${operation.operation}s for this role.`);
  }
  const context = { schema, fragments, variables };
  return { kind: operation.operation, fields: selectRoot(context, root, operation.selectionSet) };
}

/** As `selectOn`; an error is one of the root field. */
function selectRoot(context: Context, root: GraphQLObjectType, selectionSet: SelectionSetNode): SelectedField[] {
  const grouped = new Map<string, FieldNode[]>();
  collect(context, root, selectionSet, grouped, new Set());
  return [...grouped].map(([key, nodes]) => {
    try {
      return selectField(context, root, key, nodes);
    } catch (error) {
      throw error instanceof ApiError ? error.at([key]) : error;
    }
  });
}

function selectOn(context: Context, type: GraphQLObjectType, selectionSets: readonly SelectionSetNode[]): SelectedField[] {
  const grouped = new Map<string, FieldNode[]>();
  const visited = new Set<string>();
  for (const selectionSet of selectionSets) collect(context, type, selectionSet, grouped, visited);
  return [...grouped].map(([key, nodes]) => selectField(context, type, key, nodes));
}

function collect(
  context: Context,
  type: GraphQLObjectType,
  selectionSet: SelectionSetNode,
  grouped: Map<string, FieldNode[]>,
  visited: Set<string>,
): void {
  for (const selection of selectionSet.selections) {
    if (!isIncluded(context, selection.directives)) continue;
    if (selection.kind === Kind.FIELD) {
      const key = (selection.alias ?? selection.name).value;
      const nodes = grouped.get(key);
      if (nodes) nodes.push(selection);
      else grouped.set(key, [selection]);
      continue;
    }
    let fragment: { typeCondition?: { name: { value: string } }; selectionSet: SelectionSetNode } = selection as never;
    if (selection.kind === Kind.FRAGMENT_SPREAD) {
      if (visited.has(selection.name.value)) continue;
      visited.add(selection.name.value);
      fragment = context.fragments.get(selection.name.value)!;
    }
    if (applies(context, type, fragment.typeCondition?.name.value)) collect(context, type, fragment.selectionSet, grouped, visited);
  }
}

function applies(context: Context, type: GraphQLObjectType, condition: string | undefined): boolean {
  if (condition === undefined || condition === type.name) return true;
  const conditional = context.schema.getType(condition);
  return isInterfaceType(conditional) && type.getInterfaces().includes(conditional);
}

function isIncluded(context: Context, directives: readonly DirectiveNode[] | undefined): boolean {
  return (directives ?? []).every(({ name, arguments: args }) => {
    const node = args?.find((argument) => argument.name.value === 'if')?.value;
    if (!node || (name.value !== 'skip' && name.value !== 'include')) return true;
    const condition =
      node.kind === Kind.VARIABLE
        ? context.variables.get(node.name.value)
        : { kind: 'constant', value: (node as { value?: unknown }).value };
    if (condition?.kind !== 'constant' || typeof condition.value !== 'boolean') {
      throw new ApiError('BAD_USER_INPUT', `The argument "if" of @${name.value} must be true or false.`);
    }
    return condition.value === (name.value === 'include');
  });
}

function selectField(context: Context, parent: GraphQLObjectType, key: string, nodes: readonly FieldNode[]): SelectedField {
  const node = nodes[0]!;
  const name = node.name.value;
  const field = parent.getFields()[name];
  const selectionSets = nodes.flatMap((each) => each.selectionSet ?? []);
  const type = field && getNamedType(field.type);
  return {
    key,
    name,
    parentType: parent.name,
    binding: field && fieldBinding(field),
    arguments: field ? coerceArgumentValues(context, field, node) : [],
    selection: isObjectType(type) ? selectOn(context, type, selectionSets) : [],
    on: (typeName) => selectOn(context, context.schema.getType(typeName) as GraphQLObjectType, selectionSets),
    nodes,
  };
}

function coerceArgumentValues(context: Context, field: GraphQLField<unknown, unknown>, node: FieldNode): Argument[] {
  const read: Argument[] = [];
  for (const argument of field.args) {
    const argumentNode = node.arguments?.find(({ name }) => name.value === argument.name)?.value;
    if (!argumentNode) continue;
    // A null for an argument that has a default and may not be null counts as absent, as in pg_graphql.
    const isNull = argumentNode.kind === Kind.VARIABLE && context.variables.get(argumentNode.name.value) === null;
    if (isNull && argument.defaultValue !== undefined && argument.type.toString().endsWith('!')) continue;
    const value = coerceArgument(argument, argumentNode, context.variables);
    if (value !== undefined) read.push({ name: argument.name, binding: inputBinding(argument), value });
  }
  return read;
}

/** Says which argument holds what cannot be decoded. */
function coerceArgument({ name, type }: GraphQLArgument, node: ValueNode, variables: Context['variables']): InputValue | undefined {
  try {
    return coerceInputLiteral(type, node, variables);
  } catch (error) {
    throw error instanceof MalformedIdError ? error.in(`the argument "${name}"`) : error;
  }
}
