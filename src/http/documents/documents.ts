/**
 * Finds the document of a request: the one in its `query`, one that a client has stored under its hash, or a trusted one; and checks
 * whether the caller may run it.
 */
import type { GraphQLRequest } from '../../engine/request.ts';
import { ApiError, quote } from '../../errors/api-error.ts';
import { NamedRequest } from '../endpoint/read-request.ts';
import { hashOf, type PersistedQueries } from './persisted-queries.ts';
import type { TrustedDocument, TrustedDocuments } from './trusted-documents.ts';

interface DocumentOptions {
  /** Null if clients may not store documents. */
  readonly persisted: PersistedQueries | null;
  /** Null if there are none. */
  readonly trusted: TrustedDocuments | null;
  /** The roles that may run documents that are not trusted; null if all may. */
  readonly untrustedRoles: readonly string[] | null;
}

export interface FoundDocument {
  readonly text: string;
  /** The hash to store it under once it has run without an error; null if it is not to be stored. */
  readonly storedAs: string | null;
  readonly cacheControl: string | null;
}

const none: ReadonlyMap<string, TrustedDocument> = new Map();

export class Documents {
  readonly #options: DocumentOptions;

  constructor(options: DocumentOptions) {
    this.#options = options;
  }

  /** The trusted documents, by id. */
  get trusted(): ReadonlyMap<string, TrustedDocument> {
    return this.#options.trusted?.all ?? none;
  }

  /** Whether a role may run trusted documents only. */
  restricts(role: string): boolean {
    const { untrustedRoles } = this.#options;
    return untrustedRoles !== null && !untrustedRoles.includes(role);
  }

  /**
   * The document of a request from an address. Throws or rejects if there is none, if it contradicts its hash or id, or if the role may not
   * run it.
   */
  find(request: GraphQLRequest | NamedRequest, role: string, address: string): FoundDocument | Promise<FoundDocument> {
    if (!(request instanceof NamedRequest)) return this.#allow(request.query, role);
    const { id, hash, query } = request;
    const trusted = this.#options.trusted?.get(id ?? hash!);
    if (trusted !== undefined) {
      if (query !== null && query !== trusted.text) throw contradiction();
      return { ...trusted, storedAs: null };
    }
    if (this.restricts(role)) {
      if (query !== null) return this.#allow(query, role);
      throw untrusted(`The trusted documents contain none with the id ${quote(id ?? hash!)}.`);
    }
    if (hash !== null) return this.#findPersisted(hash, query, address);
    if (query !== null) throw contradiction();
    const remedy = this.#options.trusted === null ? 'Start the server with --trusted-documents' : 'Send the document in "query"';
    throw new ApiError('PERSISTED_DOCUMENT_NOT_FOUND', `There is no trusted document with the id ${quote(id!)}. ${remedy}.`);
  }

  store(hash: string, text: string, address: string): void {
    this.#options.persisted?.add(hash, text, address);
  }

  #allow(query: string, role: string): FoundDocument {
    if (this.restricts(role) && this.#options.trusted?.hasText(query) !== true)
      throw untrusted('The document is not one of the trusted documents, and this role may run no others.');
    return untrustedDocument(query);
  }

  /** Behaves as Apollo Server does, because clients look for its messages and codes. */
  #findPersisted(hash: string, query: string | null, address: string): FoundDocument | Promise<FoundDocument> {
    const { persisted } = this.#options;
    if (persisted === null) {
      // A request that includes the document needs no lookup.
      if (query !== null) return untrustedDocument(query);
      throw new ApiError('PERSISTED_QUERY_NOT_SUPPORTED', 'PersistedQueryNotSupported');
    }
    if (query === null) {
      const text = persisted.get(hash, address);
      return text instanceof Promise ? text.then(storedDocument) : storedDocument(text);
    }
    if (hashOf(query) === hash) return untrustedDocument(query, hash);
    throw new ApiError(
      'BAD_REQUEST',
      'The sha256Hash is not that of the query. Send the SHA-256 of its UTF-8 text, as 64 hexadecimal digits in lower case.',
    );
  }
}

function untrustedDocument(text: string, storedAs: string | null = null): FoundDocument {
  return { text, storedAs, cacheControl: null };
}

function storedDocument(text: string | null): FoundDocument {
  if (text === null) throw new ApiError('PERSISTED_QUERY_NOT_FOUND', 'PersistedQueryNotFound');
  return untrustedDocument(text);
}

function contradiction(): ApiError {
  return new ApiError('BAD_REQUEST', 'The request has a "query" that is not the document of its id. Send one of them.');
}

function untrusted(reason: string): ApiError {
  return new ApiError('UNTRUSTED_DOCUMENT', `${reason} Send the id of a trusted document as "documentId".`);
}
