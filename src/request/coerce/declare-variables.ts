/** Reads the variables that an operation in a valid document declares, and which of them change the SQL; names them in errors. */
import {
  type DocumentNode,
  GraphQLBoolean,
  GraphQLError,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
  Kind,
  type OperationDefinitionNode,
  typeFromAST,
  type ValueNode,
  type VariableDefinitionNode,
  visit,
} from 'graphql';
import { ApiError, shorten, shortenMessage } from '../../errors/api-error.ts';
import { type InputPath, unwrapError, writePath } from '../../errors/input-path.ts';
import { scalarNamed } from '../../model/types/scalars.ts';
import { isChoice, isWhole } from '../../schema/value-types.ts';
import { sentName } from '../lenient/adapt-document.ts';
import { describeRemedy, type InputPosition, joinRemedy } from '../lenient/describe-input.ts';
import type { Coercion, InputValue } from '../operation.ts';
import { coerceInputLiteral } from './coerce-literal.ts';
import { MalformedIdError } from './opaque-id.ts';

export interface VariableDeclaration extends ExplainedVariable {
  /** The name under which a value is sent: another one if lenient coercion lets this variable stand for one (`adaptDocument`). */
  readonly sentName: string;
  /** The declared default, or the error of requests that rely on it, if it is invalid. Undefined if there is none. */
  readonly defaultValue: InputValue | VariableError | undefined;
  /** Whether it is a boolean that `@skip`, `@include` or a switch depends on, and therefore part of the variant. */
  readonly isCondition: boolean;
}

/**
 * Reads the declarations of an operation. `conditions` are the names that `conditionVariables` finds in its document; `stands` are the
 * declarations that lenient coercion has added. Messages name the values of enums if `suggests`.
 */
export function declareVariables(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  conditions: ReadonlySet<string>,
  stands: ReadonlyMap<VariableDefinitionNode, InputPosition>,
  suggests: boolean,
): VariableDeclaration[] {
  return (operation.variableDefinitions ?? []).map((declared) => {
    const { variable, type: node, defaultValue } = declared;
    const name = variable.name.value;
    const type = typeFromAST(schema, node as never) as GraphQLInputType;
    const explained: ExplainedVariable = { name, type, position: stands.get(declared), hidesValues: !suggests };
    return {
      ...explained,
      sentName: sentName(name),
      defaultValue: defaultValue && readDefault(explained, defaultValue),
      isCondition: conditions.has(name) && getNullableType(type) === GraphQLBoolean,
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

type SampleVariables = Readonly<Record<string, unknown>>;

/**
 * Makes up variables for an operation, so that it can be prepared before a client sends it. Only the presence of the values counts. They
 * cannot be made up if their structure determines the SQL (objects, cursors, directions). Two samples: only the required variables, and all
 * of them. Fewer if they are the same or a value cannot be made up.
 */
export function sampleVariables(declarations: readonly VariableDeclaration[]): readonly SampleVariables[] {
  const required = declarations.filter(({ type, defaultValue }) => isNonNullType(type) && defaultValue === undefined);
  const samples = required.length === declarations.length ? [sampleOf(required)] : [sampleOf(required), sampleOf(declarations)];
  return samples.filter((sample) => sample !== null);
}

function sampleOf(declarations: readonly VariableDeclaration[]): SampleVariables | null {
  const entries = declarations.map(({ sentName, type }) => [sentName, sampleValue(type)] as const);
  return entries.some(([, value]) => value === undefined) ? null : Object.fromEntries(entries);
}

function sampleValue(type: GraphQLInputType): unknown {
  const nullable = getNullableType(type);
  if (isListType(nullable)) {
    const item = sampleValue(nullable.ofType);
    return item === undefined ? undefined : [item];
  }
  if (isWhole(nullable)) return {};
  if (!isLeafType(nullable) || isChoice(nullable)) return undefined;
  return isEnumType(nullable) ? nullable.getValues()[0]?.name : scalarNamed(nullable.name)?.sample;
}

/** What messages about a variable depend on. */
interface ExplainedVariable {
  readonly name: string;
  readonly type: GraphQLInputType;
  /** Where a variable is used that lenient coercion lets stand for another; undefined for others. */
  readonly position: InputPosition | undefined;
  /** Whether messages must not name the values that it takes. */
  readonly hidesValues: boolean;
}

/** Turns an error about the value of a variable into one that names the variable, the path in its value, and, if lenient, what to send. */
export function explainVariable(caught: unknown, variable: ExplainedVariable, coercion: Coercion): unknown {
  const { name, type, position: use, hidesValues } = variable;
  const { error, path } = unwrapError(caught);
  const within = path.length === 0 ? '' : ` at "${shorten(writePath([sentName(name), ...path]))}"`;
  const described = `the variable "${describeName(name)}"${within}`;
  if (error instanceof MalformedIdError) return new VariableError(name, error.in(described).message, path);
  if (!(error instanceof GraphQLError)) return error;
  const found = typeAt(type, path);
  const position = use && { owner: use.owner, path: writePath([use.path, ...path]) };
  const remedy = position || coercion === 'lenient' ? describeRemedy(found, 'send', hidesValues, position) : null;
  const problem = `Variable "${describeName(name)}" got an invalid value${within}: ${shortenMessage(error.message)}`;
  return new VariableError(name, remedy ? joinRemedy(problem, remedy) : problem, path);
}

/** The named type at a path in a value that was read as far as that. */
function typeAt(type: GraphQLInputType, path: InputPath): GraphQLNamedType & GraphQLInputType {
  return path.reduce((outer, key) => {
    const field = isInputObjectType(outer) && typeof key === 'string' ? outer.getFields()[key] : undefined;
    return field ? getNamedType(field.type) : outer;
  }, getNamedType(type));
}

function describeName(name: string): string {
  return `$${shorten(sentName(name))}`;
}

/** A variable has an invalid value. */
export class VariableError extends ApiError {
  /** The name of the variable in the document. */
  readonly variable: string;
  /** Where in its value. */
  readonly valuePath: InputPath;

  constructor(variable: string, message: string, valuePath: InputPath = []) {
    super('BAD_USER_INPUT', message);
    this.variable = variable;
    this.valuePath = valuePath;
  }
}

export function invalidVariable(name: string, problem: string): VariableError {
  return new VariableError(name, `Variable "${describeName(name)}" ${problem}`);
}
