/** Errors about a variable, which name it. */
import { GraphQLError, type GraphQLInputType, type GraphQLNamedType, getNamedType, isInputObjectType } from 'graphql';
import { ApiError, shorten, shortenMessage } from '../errors/api-error.ts';
import { type InputPath, unwrapError, writePath } from '../errors/input-path.ts';
import { sentName } from './adapt-document.ts';
import type { Coercion } from './coercion.ts';
import { describeContent, describeRemedy, type InputPlace } from './input-place.ts';
import { MalformedIdError } from './opaque-id.ts';

/** What messages about a variable depend on. */
export interface ExplainedVariable {
  readonly name: string;
  readonly type: GraphQLInputType;
  /** Where a variable is used that lenient coercion has put in the place of another; undefined for others. */
  readonly place: InputPlace | undefined;
  /** Whether messages must not name the values that it takes. */
  readonly hidesValues: boolean;
}

/** Turns an error about the value of a variable into one that names the variable, the place in its value, and, if lenient, what to send. */
export function explainVariable(caught: unknown, variable: ExplainedVariable, coercion: Coercion): unknown {
  const { name, type, place: use, hidesValues } = variable;
  const { error, path } = unwrapError(caught);
  const within = path.length === 0 ? '' : ` at "${shorten(writePath([sentName(name), ...path]))}"`;
  const described = `the variable "${describeName(name)}"${within}`;
  if (error instanceof MalformedIdError) return new VariableError(name, error.in(described).message, path);
  if (!(error instanceof GraphQLError)) return error;
  const found = typeAt(type, path);
  const used = use && describeRemedy({ ...use, type: found, path: writePath([use.path, ...path]) }, 'send');
  const remedy = used ?? (coercion === 'lenient' ? describeContent(found, hidesValues) : null);
  const problem = `Variable "${describeName(name)}" got an invalid value${within}: ${shortenMessage(error.message)}`;
  return new VariableError(name, remedy ? `${problem} ${remedy}` : problem, path);
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
