/** The explorer's initial text for a field or an argument: something that can be run. */
import {
  type ArgumentNode,
  type FieldNode,
  type GraphQLField,
  type GraphQLInputType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  isRequiredArgument,
  isRequiredInputField,
  Kind,
  type ObjectFieldNode,
  type SelectionNode,
  type ValueNode,
} from 'graphql';
import { fieldOf, selectionSetOf } from './edit-operation.ts';

/** A field with its required arguments, and for an object the fields that best identify it to a person. */
export function writeField({ name, args, type }: GraphQLField<unknown, unknown>): FieldNode {
  const required = args.filter(isRequiredArgument).map(
    (argument): ArgumentNode => ({
      kind: Kind.ARGUMENT,
      name: { kind: Kind.NAME, value: argument.name },
      value: writeValue(argument.type),
    }),
  );
  const selection = firstSelection(getNamedType(type));
  return { ...fieldOf(name, selection === null ? undefined : selectionSetOf([selection])), arguments: required };
}

/** For a collection, its rows; for a row, its first text column, or else its first column. */
function firstSelection(type: unknown): SelectionNode | null {
  if (isLeafType(type)) return null;
  if (!isObjectType(type)) return fieldOf('__typename');
  const fields = Object.values(type.getFields());
  const onward = fields.find(({ name }) => name === 'edges') ?? fields.find(({ name }) => name === 'node');
  if (onward !== undefined) return writeField(onward);
  const columns = fields.filter((field) => isLeafType(getNamedType(field.type)) && !field.args.some(isRequiredArgument));
  const column =
    columns.find(({ type: output }) => getNamedType(output).name === 'String') ??
    columns.find(({ type: output }) => getNamedType(output).name !== 'ID') ??
    columns[0];
  return fieldOf(column?.name ?? '__typename');
}

/** A value of a type, for the user to edit. */
export function writeValue(type: GraphQLInputType): ValueNode {
  if (isNonNullType(type)) return writeValue(type.ofType);
  if (isListType(type)) return { kind: Kind.LIST, values: [writeValue(type.ofType)] };
  if (isEnumType(type)) return { kind: Kind.ENUM, value: type.getValues()[0]?.name ?? '' };
  if (isInputObjectType(type)) {
    const required = Object.values(type.getFields()).filter(isRequiredInputField);
    const fields = required.map(
      (field): ObjectFieldNode => ({
        kind: Kind.OBJECT_FIELD,
        name: { kind: Kind.NAME, value: field.name },
        value: writeValue(field.type),
      }),
    );
    return { kind: Kind.OBJECT, fields };
  }
  if (type.name === 'Int' || type.name === 'Float') return { kind: Kind.INT, value: '10' };
  if (type.name === 'Boolean') return { kind: Kind.BOOLEAN, value: true };
  return { kind: Kind.STRING, value: '' };
}
