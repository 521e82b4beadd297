/**
 * The response to a request as bytes: of one that succeeded, or of one that failed, whose errors are converted to those that a client may
 * see.
 */
import { DatabaseError } from '../database/database.ts';
import { ApiError, errorCodes, isStackOverflow } from '../errors.ts';
import { RequestErrors } from '../request/parse-document.ts';
import { type ResponseBody, textBody } from './assemble-response.ts';
import type { RawResponse } from './request.ts';
import { toApiError } from './sqlstate.ts';

/** A response without errors. */
export class SuccessResponse implements RawResponse, ResponseBody {
  readonly errorCode = null;
  readonly #body: ResponseBody;

  constructor(body: ResponseBody) {
    this.#body = body;
  }

  get chunks(): readonly Uint8Array[] {
    return this.#body.chunks;
  }

  get length(): number {
    return this.#body.length;
  }

  get latin1(): string | undefined {
    return this.#body.latin1;
  }

  get isMutation(): boolean {
    return this.#body.isMutation === true;
  }

  get isReplayed(): boolean {
    return this.#body.isReplayed === true;
  }

  get dependsOn(): readonly string[] | undefined {
    return this.#body.dependsOn;
  }
}

/**
 * The errors of a failed request in the response format, with `data: null` if it failed during execution
 * (https://spec.graphql.org/October2021/#sec-Data).
 */
export function failureResponse(error: unknown): RawResponse {
  const errors = error instanceof RequestErrors ? error.errors : [toClientError(error)];
  const { code } = errors[0]!;
  const hasRun = errorCodes[code].status === 200;
  return { ...textBody(JSON.stringify(hasRun ? { data: null, errors } : { errors })), errorCode: code };
}

const internalMessage = 'Internal error: this is a bug in rowgraph. Please report it.';

function toClientError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  // Unless a limit is set, values that are nested tens of thousands of levels deep overflow the stack.
  if (isStackOverflow(error))
    return new ApiError('QUERY_TOO_COMPLEX', 'The request is nested too deeply. Nest fewer levels.', { cause: error });
  // The catalog is read outside of batches, so such an error has not been translated.
  return error instanceof DatabaseError ? toApiError(error) : new ApiError('INTERNAL_ERROR', internalMessage);
}
