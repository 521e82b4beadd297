/**
 * The messages of the protocol graphql-transport-ws (https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md), and the codes with
 * which it closes a socket.
 */
import { type ApiError, isJsonObject, quote } from '../../errors/api-error.ts';
import type { ErrorCode } from '../../errors/codes.ts';
import { parseBody } from '../endpoint/read-request.ts';

export const protocolName = 'graphql-transport-ws';

type Payload = Readonly<Record<string, unknown>>;

export type ClientMessage =
  | { readonly type: 'connection_init' | 'ping' | 'pong'; readonly payload: Payload }
  | { readonly type: 'subscribe'; readonly id: string; readonly payload: Payload }
  | { readonly type: 'complete'; readonly id: string };

/** In characters. The id of an operation is repeated with each of its answers. */
const longestId = 1000;

/** Throws an `Error` that says what is wrong with the message. */
export function readMessage(data: Buffer): ClientMessage {
  const message = parseBody(data);
  if (!isJsonObject(message)) throw new Error('A message must be a JSON object.');
  const { type, id, payload } = message;
  switch (type) {
    case 'connection_init':
    case 'ping':
    case 'pong':
      return { type, payload: readPayload(payload ?? {}, type) };
    case 'subscribe':
      return { type, id: readId(id), payload: readPayload(payload, type) };
    case 'complete':
      return { type, id: readId(id) };
    default:
      throw new Error(typeof type === 'string' ? `A client sends no messages of type ${quote(type)}.` : 'A message must have a "type".');
  }
}

function readId(id: unknown): string {
  if (typeof id === 'string' && id !== '' && id.length <= longestId) return id;
  throw new Error(`The "id" of an operation must be a string of at most ${longestId} characters.`);
}

function readPayload(payload: unknown, type: string): Payload {
  if (isJsonObject(payload)) return payload;
  throw new Error(`The "payload" of "${type}" must be an object.`);
}

/** The key and the token in a payload, by names that are written like those of headers: null if empty, undefined if not named. */
export interface SentCredentials {
  readonly apikey: string | null | undefined;
  readonly authorization: string | null | undefined;
}

/**
 * Reads the members `apikey` and `authorization`, in any case, or those of the member `headers`. Throws an `Error` for one that is not a
 * string: to ignore it would be to serve somebody else than its sender expects.
 */
export function readCredentials(payload: Payload): SentCredentials {
  const members = [payload, isJsonObject(payload.headers) ? payload.headers : {}].flatMap((object) => Object.entries(object));
  const find = (name: keyof SentCredentials): string | null | undefined => {
    const values = members.flatMap(([key, value]) => (key.toLowerCase() === name ? [value] : []));
    const value = values.find((each) => each !== null && each !== '');
    if (value === undefined) return values.length === 0 ? undefined : null;
    if (typeof value === 'string') return value;
    throw new Error(`The member "${name}" of the payload must be a string.`);
  };
  return { apikey: find('apikey'), authorization: find('authorization') };
}

/** Close codes: those of the protocol, and from https://www.iana.org/assignments/websocket those for a server that restarts or is busy. */
export const closeCodes = {
  invalidMessage: 4400,
  unauthorized: 4401,
  forbidden: 4403,
  protocolNotAcceptable: 4406,
  initTimeout: 4408,
  idInUse: 4409,
  repeatedInit: 4429,
  internalError: 4500,
  restart: 1012,
  tryAgainLater: 1013,
} as const;

const codesOfErrors: Partial<Record<ErrorCode, number>> = {
  SHUTTING_DOWN: closeCodes.restart,
  OVERLOADED: closeCodes.tryAgainLater,
  KEYS_UNAVAILABLE: closeCodes.tryAgainLater,
  AUTHENTICATION_UNAVAILABLE: closeCodes.tryAgainLater,
  PROJECT_UNAVAILABLE: closeCodes.tryAgainLater,
  TIMEOUT: closeCodes.tryAgainLater,
  INTERNAL_ERROR: closeCodes.internalError,
};

/** The code and the reason with which an error closes a socket. */
export function closeWith({ code, message }: ApiError): { readonly code: number; readonly reason: string } {
  return { code: codesOfErrors[code] ?? closeCodes.forbidden, reason: shortenReason(`${code}: ${message}`) };
}

/** In bytes (RFC 6455, section 5.5). */
const longestReason = 123;

/** As much of a reason as fits into the frame that closes a socket. */
export function shortenReason(reason: string): string {
  const bytes = Buffer.from(reason);
  if (bytes.length <= longestReason) return reason;
  return bytes.subarray(0, longestReason).toString('utf8').replace(/�+$/, '');
}
