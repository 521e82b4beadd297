/** Errors that name the variable that they are about. */
import { GraphQLError } from 'graphql';
import { ApiError, shorten, shortenMessage } from '../errors.ts';
import { MalformedIdError } from './opaque-id.ts';

/** What is wrong with the value of a variable, as the client is told. */
export function explainVariable(error: unknown, name: string): unknown {
  if (error instanceof MalformedIdError) return new VariableError(name, error.in(`the variable "$${shorten(name)}"`).message);
  if (error instanceof GraphQLError) return invalidVariable(name, `got an invalid value: ${shortenMessage(error.message)}`);
  return error;
}

/** A variable has a value that it cannot have. */
export class VariableError extends ApiError {
  readonly variable: string;

  constructor(variable: string, message: string) {
    super('BAD_USER_INPUT', message);
    this.variable = variable;
  }
}

/** The error of a variable, by its name. */
export function invalidVariable(name: string, problem: string): VariableError {
  return new VariableError(name, `Variable "$${shorten(name)}" ${problem}`);
}
