/**
 * Merges the selections of an operation into a tree of fields, each with its binding and its coerced arguments
 * (https://spec.graphql.org/October2021/#CoerceArgumentValues()).
 */
import {
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type ValueNode,
} from 'graphql';
import { type Limits, noLimits, overLimit } from '../../budget/limits.ts';
import { ApiError, inField } from '../../errors/api-error.ts';
import { unwrapError, writePath } from '../../errors/input-path.ts';
import { fieldBinding, inputBinding } from '../../schema/bindings.ts';
import { coerceInputLiteral, isDefaulted } from '../coerce/coerce-literal.ts';
import { MalformedIdError } from '../coerce/opaque-id.ts';
import type { InputEntry, InputList, InputObject, InputValue, Operation, SelectedField } from '../operation.ts';
import { collectFields, type Selections } from './collect-fields.ts';

interface Context extends Selections {
  readonly schema: GraphQLSchema;
  /** The Mutation type of a mutation. Errors in arguments of its fields say where in the argument they are. */
  readonly mutation: GraphQLObjectType | null;
  /** Counts the values of all arguments. */
  readonly counter: ValueCounter;
  /** The lists and objects in the document that were coerced: a fragment is selected as often as it is spread. */
  readonly coerced: Map<ValueNode, InputValue | undefined>;
}

/** Selects the operation's fields. The document is valid for the schema. `counter` adds up the values of their arguments, and may throw. */
export function selectFields(
  schema: GraphQLSchema,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  operation: OperationDefinitionNode,
  variables: ReadonlyMap<string, InputValue>,
  counter = new ValueCounter(variables, noLimits),
): Operation {
  const root = schema.getRootType(operation.operation);
  if (!root) {
    throw new ApiError('GRAPHQL_VALIDATION_FAILED', `The schema has no ${operation.operation}s for this role.`);
  }
  const mutation = operation.operation === 'mutation' ? root : null;
  const context: Context = { schema, fragments, variables, mutation, counter, coerced: new Map() };
  return { kind: mutation === null ? 'query' : 'mutation', fields: selectOn(context, root, [operation.selectionSet]) };
}

function selectOn(context: Context, type: GraphQLObjectType, selectionSets: readonly SelectionSetNode[]): SelectedField[] {
  return [...collectFields(context, type, selectionSets)].map(([key, nodes]) => inField(key, () => selectField(context, type, key, nodes)));
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
    ...(field ? coerceArgumentValues(context, field, node, parent === context.mutation) : { arguments: none, unsent: none }),
    selection: isObjectType(type) ? selectOn(context, type, selectionSets) : [],
    on: (typeName) => selectOn(context, context.schema.getType(typeName) as GraphQLObjectType, selectionSets),
  };
}

const none: readonly never[] = [];

function coerceArgumentValues(
  context: Context,
  field: GraphQLField<unknown, unknown>,
  node: FieldNode,
  isMutation: boolean,
): Pick<SelectedField, 'arguments' | 'unsent'> {
  const { variables, counter } = context;
  const read: InputEntry[] = [];
  const unsent: string[] = [];
  for (const argument of field.args) {
    const argumentNode = node.arguments?.find(({ name }) => name.value === argument.name)?.value;
    if (!argumentNode || isDefaulted(argument, argumentNode, variables)) continue;
    const value = coerceArgument(context, argument, argumentNode, isMutation);
    if (value === undefined) {
      unsent.push(argument.name);
      continue;
    }
    counter.add(value);
    read.push({ name: argument.name, binding: inputBinding(argument), value });
  }
  return { arguments: read, unsent };
}

/** Adds the argument's name to an error about an undecodable value, and in a mutation the path of the value to any error. */
function coerceArgument(
  { variables, coerced }: Context,
  { name, type }: GraphQLArgument,
  node: ValueNode,
  isMutation: boolean,
): InputValue | undefined {
  if (node.kind !== Kind.LIST && node.kind !== Kind.OBJECT) return coerce();
  if (!coerced.has(node)) coerced.set(node, coerce());
  return coerced.get(node);

  function coerce(): InputValue | undefined {
    try {
      return coerceInputLiteral(type, node, variables);
    } catch (caught) {
      const { error, path } = unwrapError(caught);
      const named = error instanceof MalformedIdError ? error.in(`the argument "${name}"`) : error;
      throw named instanceof ApiError && isMutation ? named.withDetails({ input: writePath([name, ...path]) }) : named;
    }
  }
}

/**
 * Counts the values in an operation's arguments, up to the limit `inputValues`: scalars, lists and their elements, objects and their
 * fields. Planning visits each of them, and those of a variable once per use. What is used again, a variable or an argument in a
 * fragment, is counted once and multiplied, so counting takes no longer the more often it is used. A list of scalars in a variable is one
 * value, because it is bound as one.
 */
export class ValueCounter {
  total = 0;
  readonly #limits: Limits;
  /** The number of values in each variable, and in each argument that was counted; null for variables that were not. */
  readonly #counts: Map<InputValue, number | null>;

  constructor(variables: ReadonlyMap<string, InputValue>, limits: Limits) {
    this.#limits = limits;
    this.#counts = new Map([...variables.values()].map((value) => [value, null]));
  }

  /** Adds the values of an argument. Throws TOO_MANY_VALUES as soon as there are too many. */
  add(value: InputValue): void {
    if (isComposite(value) && !this.#counts.has(value)) this.#counts.set(value, null);
    this.total += this.#count(value);
    if (this.total > this.#limits.inputValues) throw overLimit(this.#limits, 'inputValues');
  }

  #count(value: InputValue): number {
    if (!isComposite(value)) return 1;
    const counted = this.#counts.get(value);
    if (typeof counted === 'number') return counted;
    let count = 1;
    if (value.kind === 'list') for (const item of value.items) count += this.#count(item);
    else for (const entry of value.entries) count += this.#count(entry.value);
    if (counted === null) this.#counts.set(value, count);
    return count;
  }
}

function isComposite(value: InputValue): value is InputList | InputObject {
  return value?.kind === 'list' || value?.kind === 'object';
}
