/** Errors about a variable, which name it. */
import { GraphQLError, type GraphQLInputType, type GraphQLNamedType, getNamedType, isInputObjectType } from 'graphql';
import { ApiError, shorten, shortenMessage } from '../errors/api-error.ts';
import { sentName } from './adapt-document.ts';
import type { Coercion } from './coercion.ts';
import { describeContent, describeRemedy, type InputPlace } from './input-place.ts';
import { MalformedIdError } from './opaque-id.ts';
import { placeOf, type ValuePlace, writePlace } from './value-place.ts';

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
export function explainVariable(error: unknown, variable: ExplainedVariable, coercion: Coercion): unknown {
  const { name, type, place: use, hidesValues } = variable;
  const place = placeOf(error);
  const within = place.length === 0 ? '' : ` at "${shorten(writePlace([sentName(name), ...place]))}"`;
  const described = `the variable "${describeName(name)}"${within}`;
  if (error instanceof MalformedIdError) return new VariableError(name, error.in(described).message, place);
  if (!(error instanceof GraphQLError)) return error;
  const found = typeAt(type, place);
  const used = use && describeRemedy({ ...use, type: found, path: writePlace([use.path, ...place]) }, 'send');
  const remedy = used ?? (coercion === 'lenient' ? describeContent(found, hidesValues) : null);
  const problem = `Variable "${describeName(name)}" got an invalid value${within}: ${shortenMessage(error.message)}`;
  return new VariableError(name, remedy ? `${problem} ${remedy}` : problem, place);
}

/** The named type at a place in a value that was read as far as that. */
function typeAt(type: GraphQLInputType, place: ValuePlace): GraphQLNamedType & GraphQLInputType {
  return place.reduce((outer, key) => {
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
  /** The place in its value. */
  readonly place: ValuePlace;

  constructor(variable: string, message: string, place: ValuePlace = []) {
    super('BAD_USER_INPUT', message);
    this.variable = variable;
    this.place = place;
  }
}

export function invalidVariable(name: string, problem: string): VariableError {
  return new VariableError(name, `Variable "${describeName(name)}" ${problem}`);
}
