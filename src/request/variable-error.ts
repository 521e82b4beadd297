/** Errors about a variable, which name it. */
import { GraphQLError } from 'graphql';
import { ApiError, shorten, shortenMessage } from '../errors.ts';
import { MalformedIdError } from './opaque-id.ts';
import { placeOf, type ValuePlace } from './value-place.ts';

/** Turns an error about the value of a variable into one that names the variable. */
export function explainVariable(error: unknown, name: string): unknown {
  const place = placeOf(error);
  if (error instanceof MalformedIdError) return new VariableError(name, error.in(`the variable "$${shorten(name)}"`).message, place);
  if (error instanceof GraphQLError) return new VariableError(name, wrongValue(name, shortenMessage(error.message)), place);
  return error;
}

function wrongValue(name: string, problem: string): string {
  return `Variable "$${shorten(name)}" got an invalid value: ${problem}`;
}

/** A variable has an invalid value. */
export class VariableError extends ApiError {
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
  return new VariableError(name, `Variable "$${shorten(name)}" ${problem}`);
}
