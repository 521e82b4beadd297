/**
 * Values have the types of their positions (https://spec.graphql.org/October2021/#sec-Values-of-Correct-Type). graphql-js looks for each
 * field of an input object's type in each object: ten thousand objects, of a table with hundreds of columns, take it seconds. This rule
 * looks at the fields that are written or required, and leaves the messages to graphql-js.
 */
import {
  type ASTVisitor,
  type GraphQLInputField,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLNonNull,
  GraphQLScalarType,
  getNullableType,
  isInputObjectType,
  isListType,
  isRequiredInputField,
  Kind,
  type ObjectValueNode,
  type ValidationContext,
  type ValueNode,
  ValuesOfCorrectTypeRule,
  validateInputLiteral,
} from 'graphql';

export function ValueTypesRule(context: ValidationContext): ASTVisitor {
  const check = (node: ValueNode, type: GraphQLInputType | null | undefined): false => {
    if (type) checkValue(context, node, type);
    return false;
  };
  return {
    ...ValuesOfCorrectTypeRule(context),
    ListValue: (node) => check(node, context.getParentInputType()),
    ObjectValue: (node) => check(node, context.getInputType()),
  };
}

function checkValue(context: ValidationContext, node: ValueNode, type: GraphQLInputType): void {
  const nullable = getNullableType(type);
  if (isListType(nullable) && node.kind === Kind.LIST) {
    for (const item of node.values) checkValue(context, item, nullable.ofType);
  } else if (isListType(nullable) && node.kind === Kind.OBJECT) {
    checkValue(context, node, nullable.ofType);
  } else if (isInputObjectType(nullable) && node.kind === Kind.OBJECT) {
    checkObject(context, node, nullable);
  } else {
    report(context, node, type);
  }
}

function checkObject(context: ValidationContext, node: ObjectValueNode, type: GraphQLInputObjectType): void {
  const fields = type.getFields();
  const names = new Set(node.fields.map(({ name }) => name.value));
  if (requiredFields(type).some((name) => !names.has(name)) || node.fields.some(({ name }) => !Object.hasOwn(fields, name.value))) {
    report(context, node, withoutTypes(type));
  }
  for (const { name, value } of node.fields) {
    if (Object.hasOwn(fields, name.value)) checkValue(context, value, fields[name.value]!.type);
  }
}

function report(context: ValidationContext, node: ValueNode, type: GraphQLInputType): void {
  validateInputLiteral(node, type, (error) => context.reportError(error), undefined, undefined, context.hideSuggestions);
}

const required = new WeakMap<GraphQLInputObjectType, readonly string[]>();

function requiredFields(type: GraphQLInputObjectType): readonly string[] {
  const known = required.get(type);
  if (known) return known;
  const fields = Object.values(type.getFields()).filter(isRequiredInputField);
  const names = fields.map(({ name }) => name);
  required.set(type, names);
  return names;
}

const anyValue = new GraphQLScalarType({ name: 'Any' });

/** The type with fields that take any value, so that only what is missing or unknown is reported. */
function withoutTypes(type: GraphQLInputObjectType): GraphQLInputObjectType {
  const taking = (field: GraphQLInputField) => ({ ...field, type: isRequiredInputField(field) ? new GraphQLNonNull(anyValue) : anyValue });
  const fields = Object.fromEntries(Object.entries(type.getFields()).map(([name, field]) => [name, taking(field)]));
  return Object.create(type, { getFields: { value: () => fields } });
}
