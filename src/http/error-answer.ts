/** An error as an HTTP answer in the GraphQL response format. In: the error; out: its body and the headers that its code calls for. */
import type { ApiError, ErrorCode } from '../errors.ts';

/** The body `{"errors": [...]}` of one error. */
export function encodeError(error: ApiError): Buffer {
  return Buffer.from(JSON.stringify({ errors: [error] }));
}

const none: readonly string[] = [];
const byCode: Partial<Record<ErrorCode, readonly string[]>> = {
  // RFC 9110, section 15.5.2: an answer 401 has to say how to authenticate.
  UNAUTHENTICATED: ['www-authenticate', 'Bearer realm="rowgraph"'],
  METHOD_NOT_ALLOWED: ['allow', 'POST'],
  DATABASE_UNAVAILABLE: ['retry-after', '1'],
  OVERLOADED: ['retry-after', '1'],
};

/** Names and values in turn. */
export function headersOfError(code: ErrorCode): readonly string[] {
  return byCode[code] ?? none;
}
