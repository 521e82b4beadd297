/**
 * Reads the parameters of a request (https://graphql.github.io/graphql-over-http/draft/#sec-Request-Parameters), whether they came in a
 * body or in a URL. In: a value; out: the request with exactly its four members, each of the right type, or a request whose document is yet
 * to be found.
 */
import type { GraphQLRequest } from '../engine/request.ts';
import { ApiError } from '../errors/api-error.ts';

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
  const { query, variables, operationName, extensions, documentId } = value as Readonly<Record<string, unknown>>;
  if (!isObjectOrNothing(variables)) throw badRequest('"variables" must be an object or null.');
  if (operationName !== undefined && operationName !== null && typeof operationName !== 'string')
    throw badRequest('"operationName" must be a string or null.');
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

function badRequest(message: string): ApiError {
  return new ApiError('BAD_REQUEST', message);
}
