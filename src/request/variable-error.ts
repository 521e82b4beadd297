/** Errors about a variable, which name it. */
import { GraphQLError } from 'graphql';
import { ApiError, shorten, shortenMessage } from '../errors.ts';
import { sentName } from './adapt-document.ts';
import { describeRemedy, type InputPlace } from './input-place.ts';
import { MalformedIdError } from './opaque-id.ts';
import { placeOf, type ValuePlace } from './value-place.ts';

/** Turns an error about the value of a variable into one that names the variable, and what to send if it is judged by its `use`. */
export function explainVariable(error: unknown, name: string, use?: InputPlace): unknown {
  const place = placeOf(error);
  if (error instanceof MalformedIdError) return new VariableError(name, error.in(`the variable "${describeName(name)}"`).message, place);
  if (!(error instanceof GraphQLError)) return error;
  const remedy = use && describeRemedy(use, 'send');
  const problem = `Variable "${describeName(name)}" got an invalid value: ${shortenMessage(error.message)}`;
  return new VariableError(name, remedy ? `${problem} ${remedy}` : problem, place);
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
