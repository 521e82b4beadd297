/**
 * The visible lines of the explorer's tree: fields with their arguments and the fields below them. In: the schema, an operation, and what
 * the user has opened and closed; out: lines in order, each with what the operation contains of it.
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
  type OperationDefinitionNode,
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
  /** What the user has opened (true) and closed (false); everything else is open if the operation contains it. */
  readonly opened: ReadonlyMap<string, boolean>;
  /** Shows only root fields whose name contains this, and those that the operation contains. */
  readonly search: string;
}

/** The visible lines. */
export function listExplorerLines(schema: GraphQLSchema, state: ExplorerState): readonly ExplorerLine[] {
  const root = schema.getRootType(state.operation.operation);
  if (!root) return [];
  const wanted = state.search.trim().toLowerCase();
  const isShown = (name: string) => name.toLowerCase().includes(wanted) || findField(state.operation, [name]) !== null;
  return listFields(root, [], 1, state, isShown);
}

function listFields(
  type: GraphQLObjectType,
  above: FieldPath,
  level: number,
  state: ExplorerState,
  isShown: (name: string) => boolean = () => true,
  beside: readonly ExplorerLine[] = [],
): readonly ExplorerLine[] {
  const fields = Object.values(type.getFields()).filter(({ name }) => isShown(name));
  const before = beside.filter((line) => line.level === level).length;
  return fields.flatMap((field, index) => {
    const path = [...above, field.name];
    const id = path.join('/');
    const below = getNamedType(field.type);
    const found = findField(state.operation, path);
    const hasMore = isObjectType(below) || field.args.length > 0;
    const line: FieldLine = {
      ...{ kind: 'field', id, name: field.name, level, place: before + index + 1, count: before + fields.length, path, field },
      isChecked: found !== null,
      isOpen: hasMore ? (state.opened.get(id) ?? found !== null) : null,
      description: field.description ?? '',
      type: String(field.type),
    };
    if (line.isOpen !== true) return [line];
    const known: Arguments = { path, found, state };
    const count = field.args.length + (isObjectType(below) ? Object.keys(below.getFields()).length : 0);
    const given = listArguments(field.args, [], level + 1, known, count);
    return [line, ...given, ...(isObjectType(below) ? listFields(below, path, level + 1, state, undefined, given) : [])];
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
