/** Reads the variables that an operation in a valid document declares, and which of them change the SQL. */
import {
  type DocumentNode,
  GraphQLBoolean,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isInputObjectType,
  Kind,
  type OperationDefinitionNode,
  typeFromAST,
  type ValueNode,
  type VariableDefinitionNode,
  visit,
} from 'graphql';
import { sentName } from './adapt-document.ts';
import { coerceInputLiteral } from './coerce-input-literal.ts';
import type { InputPlace } from './input-place.ts';
import type { InputValue } from './input-value.ts';
import { isCursor, isNodeId } from './type-roles.ts';
import { type ExplainedVariable, explainVariable, VariableError } from './variable-error.ts';

export interface VariableDeclaration extends ExplainedVariable {
  /** The name under which a value is sent: another one if lenient coercion has put this variable in the place of one (`adaptDocument`). */
  readonly sentName: string;
  /** The declared default, or the error of requests that rely on it, if it is invalid. Undefined if there is none. */
  readonly defaultValue: InputValue | VariableError | undefined;
  /** Whether it is a boolean that `@skip`, `@include` or a switch depends on, and therefore part of the variant. */
  readonly isCondition: boolean;
  /** Whether coercing a value can take long: objects, cursors and nodeIds can have any size. */
  readonly mayBeLong: boolean;
}

/**
 * Reads the declarations of an operation. `conditions` are the names that `conditionVariables` finds in its document; `stands` are the
 * declarations that lenient coercion has added. Messages name the values of enums if `suggests`.
 */
export function declareVariables(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  conditions: ReadonlySet<string>,
  stands: ReadonlyMap<VariableDefinitionNode, InputPlace>,
  suggests: boolean,
): VariableDeclaration[] {
  return (operation.variableDefinitions ?? []).map((declared) => {
    const { variable, type: node, defaultValue } = declared;
    const name = variable.name.value;
    const type = typeFromAST(schema, node as never) as GraphQLInputType;
    const bare = getNullableType(type);
    const explained: ExplainedVariable = { name, type, place: stands.get(declared), hidesValues: !suggests };
    return {
      ...explained,
      sentName: sentName(name),
      defaultValue: defaultValue && readDefault(explained, defaultValue),
      isCondition: conditions.has(name) && bare === GraphQLBoolean,
      mayBeLong: isInputObjectType(getNamedType(type)) || isCursor(bare) || isNodeId(bare),
    };
  });
}

/** To GraphQL any text is a valid ID or cursor; decoding shows whether it really is one. */
function readDefault(variable: ExplainedVariable, node: ValueNode): InputValue | VariableError | undefined {
  try {
    return coerceInputLiteral(variable.type, node, new Map());
  } catch (error) {
    const explained = explainVariable(error, variable, 'strict');
    if (explained instanceof VariableError) return explained;
    throw explained;
  }
}

/** Input fields of nested writes whose boolean changes the SQL. */
const switchNames: ReadonlySet<string> = new Set(['disconnect', 'delete']);

/** Finds the variables that a `@skip`, `@include` or switch anywhere in the document depends on. */
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
