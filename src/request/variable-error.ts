/** Errors that name the variable that they are about. */
import { GraphQLError } from 'graphql';
import { ApiError, shorten, shortenMessage } from '../errors.ts';
import { MalformedIdError } from './opaque-id.ts';
import { placeOf, type ValuePlace } from './value-place.ts';

/** What is wrong with the value of a variable, as the client is told. */
export function explainVariable(error: unknown, name: string): unknown {
  const place = placeOf(error);
  if (error instanceof MalformedIdError) return new VariableError(name, error.in(`the variable "$${shorten(name)}"`).message, place);
  if (error instanceof GraphQLError) return new VariableError(name, wrongValue(name, shortenMessage(error.message)), place);
  return error;
}

function wrongValue(name: string, problem: string): string {
  return `Variable "$${shorten(name)}" got an invalid value: ${problem}`;
}

/** A variable has a value that it cannot have. */
export class VariableError extends ApiError {
  readonly variable: string;
  /** Where in the value. */
  readonly place: ValuePlace;

  constructor(variable: string, message: string, place: ValuePlace = []) {
    super('BAD_USER_INPUT', message);
    this.variable = variable;
    this.place = place;
  }
}

/** The error of a variable, by its name. */
export function invalidVariable(name: string, problem: string): VariableError {
  return new VariableError(name, `Variable "$${shorten(name)}" ${problem}`);
}
