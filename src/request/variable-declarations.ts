/** The variables that an operation declares, and which of them decide what the SQL is. In: a document that is valid by the schema. */
import {
  type DocumentNode,
  GraphQLBoolean,
  type GraphQLInputType,
  type GraphQLSchema,
  getNullableType,
  Kind,
  type OperationDefinitionNode,
  typeFromAST,
  type ValueNode,
  visit,
} from 'graphql';
import { coerceInputLiteral } from './coerce-input-literal.ts';
import type { InputValue } from './input-value.ts';
import { explainVariable, VariableError } from './variable-error.ts';

/** A variable as its operation declares it. */
export interface VariableDeclaration {
  readonly name: string;
  readonly type: GraphQLInputType;
  /** The default of the declaration, or why it is none: the error of requests that rely on it. Undefined if it has none. */
  readonly defaultValue: InputValue | VariableError | undefined;
  /** A boolean that decides on `@skip` or `@include` is part of the variant. */
  readonly isCondition: boolean;
}

/** The declarations of an operation. `conditions`: the variables of its document that decide what the SQL is. */
export function declareVariables(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  conditions: ReadonlySet<string>,
): VariableDeclaration[] {
  return (operation.variableDefinitions ?? []).map(({ variable, type: node, defaultValue }) => {
    const name = variable.name.value;
    const type = typeFromAST(schema, node as never) as GraphQLInputType;
    return {
      name,
      type,
      defaultValue: defaultValue && readDefault(name, type, defaultValue),
      isCondition: conditions.has(name) && getNullableType(type) === GraphQLBoolean,
    };
  });
}

/** Any text is a valid ID or cursor; whether it is one of ours shows when it is read. */
function readDefault(name: string, type: GraphQLInputType, node: ValueNode): InputValue | VariableError | undefined {
  try {
    return coerceInputLiteral(type, node, new Map());
  } catch (error) {
    const told = explainVariable(error, name);
    if (told instanceof VariableError) return told;
    throw told;
  }
}

/** Input fields whose booleans decide what the SQL is: the members of nested writes that are switches. */
const switchNames: ReadonlySet<string> = new Set(['disconnect', 'delete']);

/** Names of the variables that some `@skip` or `@include` of the document depends on, or a switch. */
export function conditionVariables(node: DocumentNode): ReadonlySet<string> {
  const names = new Set<string>();
  visit(node, {
    Directive: (directive) => {
      for (const { value } of directive.arguments ?? []) if (value.kind === Kind.VARIABLE) names.add(value.name.value);
    },
    ObjectField: ({ name, value }) => {
      if (value.kind === Kind.VARIABLE && switchNames.has(name.value)) names.add(value.name.value);
    },
  });
  return names;
}
