/**
 * Reads the parameters of a request (https://graphql.github.io/graphql-over-http/draft/#sec-Request-Parameters), whether they came in a
 * body or in a URL.
 */
import { isUtf8 } from 'node:buffer';
import type { GraphQLRequest } from '../../engine/request.ts';
import { ApiError, quote } from '../../errors/api-error.ts';
import type { Exchange } from './exchange.ts';

/** A request that names its document, by `documentId` or `extensions.persistedQuery`. It may have a `query` too. */
export class NamedRequest {
  /** Null if it has only a hash. */
  readonly id: string | null;
  /** Null if it has only an id. */
  readonly hash: string | null;
  readonly query: string | null;
  readonly #rest: Omit<GraphQLRequest, 'query'>;

  constructor(id: string | null, hash: string | null, query: string | null, rest: Omit<GraphQLRequest, 'query'>) {
    this.id = id;
    this.hash = hash;
    this.query = query;
    this.#rest = rest;
  }

  /** The request with its document filled in. */
  withDocument(query: string): GraphQLRequest {
    return { query, ...this.#rest };
  }
}

/** `JSON.parse` makes `__proto__` an own property, so the members read below are the body's own or absent. Throws BAD_REQUEST. */
export function readParameters(value: unknown): GraphQLRequest | NamedRequest {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw badRequest('A request must be a JSON object with the member "query".');
  const { query, variables, operationName: name, extensions, documentId } = value as Readonly<Record<string, unknown>>;
  if (!isObjectOrNothing(variables)) throw badRequest('"variables" must be an object or null.');
  if (name !== undefined && name !== null && typeof name !== 'string') throw badRequest('"operationName" must be a string or null.');
  // Some clients send an empty name for none.
  const operationName = name === '' ? undefined : name;
  if (!isObjectOrNothing(extensions)) throw badRequest('"extensions" must be an object or null.');
  const id = documentId ?? null;
  const persisted = extensions?.persistedQuery ?? null;
  if (id === null && persisted === null) return { query: checkQuery(query), variables, operationName, extensions };
  const text = query === undefined || query === null ? null : checkQuery(query);
  return new NamedRequest(checkId(id), checkPersisted(persisted, id), text, { variables, operationName, extensions });
}

function checkQuery(query: unknown): string {
  if (typeof query === 'string') return query;
  throw badRequest(
    query === undefined ? 'The request has no "query". Send the GraphQL document as a string in "query".' : '"query" must be a string.',
  );
}

function checkId(id: unknown): string | null {
  if (id === null || (typeof id === 'string' && id !== '')) return id;
  throw badRequest('"documentId" must be a string that is not empty.');
}

/** The hash in `extensions.persistedQuery`. */
function checkPersisted(persisted: unknown, id: unknown): string | null {
  if (persisted === null) return null;
  const { version, sha256Hash } = persisted as Readonly<Record<string, unknown>>;
  if (typeof sha256Hash !== 'string' || sha256Hash === '' || version !== 1)
    throw badRequest('"extensions.persistedQuery" must have the version 1 and a string "sha256Hash".');
  if (id !== null && id !== sha256Hash && id !== `sha256:${sha256Hash}`)
    throw badRequest('"documentId" and "extensions.persistedQuery" name different documents. Send one of them.');
  return sha256Hash;
}

function isObjectOrNothing(value: unknown): value is Readonly<Record<string, unknown>> | null | undefined {
  return value === undefined || (typeof value === 'object' && !Array.isArray(value));
}

/** In characters: servers and proxies should support this length (RFC 9110, section 4.1), and many support no more. */
const longestUrl = 8192;

/** The known parameters, and whether their values are JSON. Others are ignored: caches and proxies add some. */
const meanings: ReadonlyMap<string, 'text' | 'json'> = new Map([
  ['query', 'text'],
  ['documentId', 'text'],
  ['operationName', 'text'],
  ['variables', 'json'],
  ['extensions', 'json'],
]);

/**
 * The parameters of a GET request (https://graphql.github.io/graphql-over-http/draft/#sec-GET), as a POST would have them in its body.
 * Throws URI_TOO_LONG, and BAD_REQUEST for a parameter that cannot be decoded or is repeated.
 */
export function parseUrl(url: string): Readonly<Record<string, unknown>> {
  if (url.length > longestUrl)
    throw new ApiError(
      'URI_TOO_LONG',
      `The URL is longer than ${longestUrl} characters. Send the request as a POST request with a JSON body.`,
    );
  const start = url.indexOf('?');
  const parameters: Record<string, unknown> = {};
  if (start === -1) return parameters;
  for (const pair of url.slice(start + 1).split('&')) {
    const end = pair.indexOf('=');
    const name = decode(end === -1 ? pair : pair.slice(0, end), 'The name of a URL parameter');
    const meaning = meanings.get(name);
    if (meaning === undefined) continue;
    // A proxy or a cache in front of rowgraph may use a different value than rowgraph does.
    if (Object.hasOwn(parameters, name)) throw badRequest(`The URL parameter "${name}" is there more than once. Send it once.`);
    const text = end === -1 ? '' : decode(pair.slice(end + 1), `The URL parameter "${name}"`);
    parameters[name] = meaning === 'json' ? parseParameter(name, text) : text;
  }
  return parameters;
}

/** `application/x-www-form-urlencoded`: a plus sign may stand for a space. */
function decode(text: string, subject: string): string {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text;
  if (!spaced.includes('%')) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    throw badRequest(`${subject} cannot be decoded: ${quote(text)}. Encode it as UTF-8, with % followed by two hexadecimal digits.`);
  }
}

function parseParameter(name: string, text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ApiError('BAD_REQUEST', `The URL parameter "${name}" is not valid JSON. Send a JSON object, percent-encoded.`, {
      cause: error,
    });
  }
}

/** Throws UNSUPPORTED_MEDIA_TYPE unless the headers declare a JSON body in UTF-8, which is unencoded or has been decoded. */
export function checkContentType({ headers, isBodyRead }: Exchange): void {
  const contentType = headers['content-type'];
  if (contentType !== 'application/json' && !isJson(contentType ?? '')) {
    throw new ApiError(
      'UNSUPPORTED_MEDIA_TYPE',
      'Unsupported media type. Send JSON in UTF-8 with the header Content-Type: application/json.',
    );
  }
  const contentEncoding = headers['content-encoding'];
  if (!isBodyRead && contentEncoding !== undefined && contentEncoding.toLowerCase() !== 'identity') {
    throw new ApiError('UNSUPPORTED_MEDIA_TYPE', 'Compressed request bodies are not supported. Send the body without Content-Encoding.');
  }
}

function isJson(contentType: string): boolean {
  const [mediaType, ...parameters] = contentType
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  return (
    mediaType === 'application/json' &&
    parameters.every((parameter) => !parameter.startsWith('charset=') || /^charset="?utf-?8"?$/.test(parameter))
  );
}

/** In bytes. Nesting is checked only in longer bodies, as what it takes to parse a short one is little whatever it holds. */
const shortBody = 64 * 1024;
/** No value of a request can be nested deeper than this; in a text of nothing but brackets, each level takes time and memory. */
const deepestNesting = 5000;

/** The value of a body. Throws BAD_REQUEST or TOO_DEEP. */
export function parseBody(body: Buffer): unknown {
  if (body.length === 0) throw badRequest('The body is empty. Send a JSON object with the member "query".');
  if (!isUtf8(body)) throw badRequest('The body is not valid UTF-8.');
  if (body.length > shortBody) checkNesting(body);
  try {
    return JSON.parse(body.toString('utf8', hasByteOrderMark(body) ? 3 : 0));
  } catch (cause) {
    throw new ApiError('BAD_REQUEST', 'The body is not valid JSON.', { cause });
  }
}

const code = { quote: 0x22, backslash: 0x5c, openList: 0x5b, closeList: 0x5d, openObject: 0x7b, closeObject: 0x7d };

function checkNesting(body: Buffer): void {
  let depth = 0;
  let isString = false;
  for (let index = 0; index < body.length; index++) {
    const byte = body[index];
    if (byte === code.quote) isString = !isString;
    else if (isString) index += byte === code.backslash ? 1 : 0;
    else if (byte === code.openList || byte === code.openObject) depth += 1;
    else if (byte === code.closeList || byte === code.closeObject) depth -= 1;
    if (depth > deepestNesting)
      throw new ApiError('TOO_DEEP', `The body is nested deeper than ${deepestNesting} levels, the maximum for any request.`);
  }
}

/** JSON has no byte order mark, but a parser may ignore one (RFC 8259, section 8.1). */
function hasByteOrderMark(body: Buffer): boolean {
  return body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf;
}

function badRequest(message: string): ApiError {
  return new ApiError('BAD_REQUEST', message);
}
