/** Responses of the server besides those of the endpoint, and errors in the GraphQL response format. */
import { ApiError } from '../../errors/api-error.ts';
import { type ErrorCode, errorCodes } from '../../errors/codes.ts';
import type { Observer } from '../../events.ts';
import type { Exchange } from './exchange.ts';

/** The body `{"errors": [...]}` of one error. */
export function encodeError(error: ApiError): Buffer {
  return Buffer.from(JSON.stringify({ errors: [error] }));
}

/** A response with errors alone. */
export function encodeErrors(errors: readonly ApiError[]) {
  const body = Buffer.from(JSON.stringify({ errors }));
  return { chunks: [body], length: body.length, errorCode: errors[0]?.code ?? 'INTERNAL_ERROR' } as const;
}

/** The error that a client may see. Anything but an `ApiError` is a bug: the observer sees it, the client only INTERNAL_ERROR. */
export function toReportedError(error: unknown, requestId: string, observe: Observer): ApiError {
  if (error instanceof ApiError) return error;
  observe({ kind: 'defect-found', requestId, error });
  return new ApiError('INTERNAL_ERROR', `Internal error. See the server's log for the request id ${requestId}.`);
}

/** The errors that a client may see, of a request that several may be wrong with. */
export function toReportedErrors(error: unknown, requestId: string, observe: Observer): readonly ApiError[] {
  const errors: unknown = error instanceof Error && 'errors' in error ? error.errors : null;
  if (!Array.isArray(errors) || errors.length === 0) return [toReportedError(error, requestId, observe)];
  return errors.map((one) => toReportedError(one, requestId, observe));
}

const noHeaders: readonly string[] = [];
const byCode: Partial<Record<ErrorCode, readonly string[]>> = {
  // RFC 9110, section 15.5.2: a 401 response must say how to authenticate.
  UNAUTHENTICATED: ['www-authenticate', 'Bearer realm="rowgraph"'],
  DATABASE_UNAVAILABLE: ['retry-after', '1'],
  SCHEMA_LOADING: ['retry-after', '1'],
  KEYS_UNAVAILABLE: ['retry-after', '10'],
  AUTHENTICATION_UNAVAILABLE: ['retry-after', '1'],
  PROJECT_UNAVAILABLE: ['retry-after', '10'],
  OVERLOADED: ['retry-after', '1'],
  SHUTTING_DOWN: ['retry-after', '1'],
};

/** Alternating names and values. */
export function headersOfError(code: ErrorCode): readonly string[] {
  return byCode[code] ?? noHeaders;
}

const jsonHeaders = ['content-type', 'application/json; charset=utf-8', 'cache-control', 'no-store'];

/** The response to a request that failed outside the endpoint. `headers` are added to those of the code; `status` overrides its status. */
export function errorResponse(
  error: ApiError,
  headers: readonly string[] = noHeaders,
  status: number = errorCodes[error.code].status,
): HttpResponse {
  return {
    status,
    headers: [...jsonHeaders, ...headersOfError(error.code), ...headers],
    body: encodeError(error),
  };
}

export interface HttpResponse {
  readonly status: number;
  /** Alternating names and values. */
  readonly headers: readonly string[];
  readonly body: Buffer | string;
}

export function jsonResponse(status: number, value: unknown): HttpResponse {
  return { status, headers: jsonHeaders, body: JSON.stringify(value) };
}

/** Sends a response with the headers common to all responses. `isLast` ends the connection after it. */
export function sendResponse(exchange: Exchange, { status, headers, body }: HttpResponse, isLast: boolean): void {
  const { requestId } = exchange;
  if (!exchange.isGone) {
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    const length = status === 204 ? [] : ['content-length', String(bytes.length)];
    const all = [...headers, ...length, 'x-content-type-options', 'nosniff', 'x-request-id', requestId];
    exchange.respond(status, all, status === 204 ? null : { chunks: [bytes], length: bytes.length }, isLast);
  }
  exchange.endHandling();
}

/** The value, or null if there is none. `name` is the option that holds the function. */
export function callApplication<Value>(name: string, call: () => Value, onDefect: (error: Error) => void): NonNullable<Value> | null {
  try {
    const value = call();
    if (!(value instanceof Promise)) return value ?? null;
    // Nobody awaits this promise.
    value.catch(() => undefined);
    throw new TypeError('it must return its value, not a promise');
  } catch (cause) {
    onDefect(new Error(`The function "${name}" failed: ${cause instanceof Error ? cause.message : String(cause)}`, { cause }));
    return null;
  }
}
