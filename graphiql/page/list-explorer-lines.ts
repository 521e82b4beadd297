/**
 * The visible lines of the explorer's tree: fields with their arguments and the fields below them, each with what the operation contains
 * of it.
 */
import {
  type FieldNode,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLInputType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isInputObjectType,
  isObjectType,
  isRequiredArgument,
  type OperationDefinitionNode,
  type OperationTypeNode,
  type ValueNode,
} from 'graphql';
import { type ArgumentPath, type FieldPath, findField, findValue } from './edit-operation.ts';

interface Line {
  /** Stable for the same field or argument. */
  readonly id: string;
  readonly name: string;
  /** From 1. */
  readonly level: number;
  /** Position among its siblings, from 1. */
  readonly place: number;
  readonly count: number;
  readonly isChecked: boolean;
  /** Null if it has no children. */
  readonly isOpen: boolean | null;
  readonly path: FieldPath;
  readonly description: string;
  /** As in SDL. */
  readonly type: string;
}

export interface FieldLine extends Line {
  readonly kind: 'field';
  readonly field: GraphQLField<unknown, unknown>;
}

export interface ArgumentLine extends Line {
  readonly kind: 'argument';
  readonly argument: ArgumentPath;
  readonly inputType: GraphQLInputType;
  readonly value: ValueNode | null;
}

export type ExplorerLine = FieldLine | ArgumentLine;

export interface ExplorerState {
  readonly operation: OperationDefinitionNode;
  /** What the user has opened (true) and closed (false); everything else is open if the operation contains it, or if it leads to what is found. */
  readonly opened: ReadonlyMap<string, boolean>;
  /** What a search has found; null shows everything. */
  readonly found: readonly FieldPath[] | null;
}

/** The visible lines. */
export function listExplorerLines(schema: GraphQLSchema, state: ExplorerState): readonly ExplorerLine[] {
  const root = schema.getRootType(state.operation.operation);
  if (!root) return [];
  const shown = state.found && new Set(state.found.flatMap((path) => path.map((_, index) => idOf(path.slice(0, index + 1)))));
  return listFields(root, [], 1, { ...state, shown });
}

function idOf(path: FieldPath): string {
  return path.join('/');
}

/** A field that a role can reach, by the shortest way there. */
export interface ReachableField {
  readonly path: FieldPath;
  /** In lower case. */
  readonly name: string;
}

/**
 * All fields below a root type, the nearest first, each of a type once. `edges` and `node` do not count as steps, and fields that need no
 * arguments are preferred: a table is reached by its collection.
 */
export function listReachable(schema: GraphQLSchema, kind: OperationTypeNode): readonly ReachableField[] {
  const root = schema.getRootType(kind);
  const reached = new Set<GraphQLObjectType>();
  const fields: ReachableField[] = [];
  const queue: [type: GraphQLObjectType, path: FieldPath][] = root ? [[root, []]] : [];
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    const [type, above] = next;
    if (reached.has(type)) continue;
    reached.add(type);
    const inside = Object.values(type.getFields());
    for (const { name } of inside) fields.push({ path: [...above, name], name: name.toLowerCase() });
    for (const field of inside.toSorted((one, other) => countRequired(one) - countRequired(other))) {
      const below = getNamedType(field.type);
      if (!isObjectType(below)) continue;
      const step: (typeof queue)[number] = [below, [...above, field.name]];
      if ((field.name === 'edges' || field.name === 'node') && countRequired(field) === 0) queue.unshift(step);
      else queue.push(step);
    }
  }
  return fields;
}

function countRequired({ args }: GraphQLField<unknown, unknown>): number {
  return args.filter(isRequiredArgument).length;
}

type ShownState = ExplorerState & { readonly shown: ReadonlySet<string> | null };

function listFields(
  type: GraphQLObjectType,
  above: FieldPath,
  level: number,
  state: ShownState,
  beside: readonly ExplorerLine[] = [],
): readonly ExplorerLine[] {
  const { shown } = state;
  // What the user has opened shows all that it has.
  const isWhole = shown === null || state.opened.get(idOf(above)) === true;
  const fields = Object.values(type.getFields()).filter(({ name }) => isWhole || shown.has(idOf([...above, name])));
  const before = beside.filter((line) => line.level === level).length;
  return fields.flatMap((field, index) => {
    const path = [...above, field.name];
    const id = idOf(path);
    const below = getNamedType(field.type);
    const found = findField(state.operation, path);
    const hasMore = isObjectType(below) || field.args.length > 0;
    const leads = shown !== null && isObjectType(below) && Object.keys(below.getFields()).some((name) => shown.has(idOf([...path, name])));
    const line: FieldLine = {
      ...{ kind: 'field', id, name: field.name, level, place: before + index + 1, count: before + fields.length, path, field },
      isChecked: found !== null,
      isOpen: hasMore ? (state.opened.get(id) ?? (shown === null ? found !== null : leads)) : null,
      description: field.description ?? '',
      type: String(field.type),
    };
    if (line.isOpen !== true) return [line];
    const known: Arguments = { path, found, state };
    const args = shown === null || state.opened.get(id) === true ? field.args : [];
    const count = args.length + (isObjectType(below) ? Object.keys(below.getFields()).length : 0);
    const given = listArguments(args, [], level + 1, known, count);
    return [line, ...given, ...(isObjectType(below) ? listFields(below, path, level + 1, state, given) : [])];
  });
}

/** The arguments of one field. */
interface Arguments {
  readonly path: FieldPath;
  readonly found: FieldNode | null;
  readonly state: ExplorerState;
}

function listArguments(
  given: readonly (GraphQLArgument | GraphQLInputField)[],
  above: ArgumentPath,
  level: number,
  known: Arguments,
  count: number,
): readonly ExplorerLine[] {
  return given.flatMap(({ name, type, description }, index) => {
    const argument = [...above, name];
    const id = `${known.path.join('/')}(${argument.join('.')}`;
    const value = known.found && findValue(known.found, argument);
    const below = getNamedType(type);
    const isOpen = isInputObjectType(below) ? (known.state.opened.get(id) ?? value !== null) : null;
    const line: ArgumentLine = {
      ...{ kind: 'argument', id, name, level, place: index + 1, count, path: known.path, argument, inputType: type, value, isOpen },
      isChecked: value !== null,
      description: description ?? '',
      type: String(type),
    };
    if (!isOpen || !isInputObjectType(below)) return [line];
    const fields = Object.values(below.getFields());
    return [line, ...listArguments(fields, argument, level + 1, known, fields.length)];
  });
}
