/** Documents that requests may name by id. */
import { isJsonObject, quote } from '../../errors/api-error.ts';
import { checkCacheControl } from '../../settings/check-settings.ts';

/** A document that requests may name by id. */
export interface TrustedDocument {
  readonly text: string;
  /** The Cache-Control header of responses to GET requests that name it; null for the server's own. */
  readonly cacheControl: string | null;
}

/** A current collection of trusted documents. */
export interface TrustedDocuments {
  get(id: string): TrustedDocument | undefined;
  hasText(text: string): boolean;
  /** All of them, by id: another map after each change. Agents get no tools for documents without it. */
  readonly all?: ReadonlyMap<string, TrustedDocument>;
}

/** What a program may pass: documents by id, some with a Cache-Control of their own. */
export type DocumentsById = Readonly<Record<string, string | { readonly document: string; readonly cacheControl?: string }>>;

const hashPrefix = 'sha256:';

export class DocumentMap implements TrustedDocuments {
  readonly all: ReadonlyMap<string, TrustedDocument>;
  readonly #texts: ReadonlySet<string>;

  constructor(all: ReadonlyMap<string, TrustedDocument>) {
    this.all = all;
    this.#texts = new Set([...all.values()].map(({ text }) => text));
  }

  /** A hash may be written with or without its prefix, both in the documents and in requests. */
  get(id: string): TrustedDocument | undefined {
    const other = id.startsWith(hashPrefix) ? id.slice(hashPrefix.length) : hashPrefix + id;
    return this.all.get(id) ?? this.all.get(other);
  }

  hasText(text: string): boolean {
    return this.#texts.has(text);
  }
}

/**
 * Accepts documents in either form: an object of ids and documents, or an object with the methods of `TrustedDocuments`. Throws an `Error`
 * that names the wrong document.
 */
export function readTrustedDocuments(documents: TrustedDocuments | DocumentsById): TrustedDocuments {
  if (isFinder(documents)) return documents;
  if (Object.prototype.toString.call(documents) !== '[object Object]')
    throw new TypeError('The option "trustedDocuments" must be a plain object of ids and documents.');
  return new DocumentMap(new Map(Object.entries(documents).map(([id, entry]) => [id, readDocument(id, entry)])));
}

function readDocument(id: string, entry: unknown): TrustedDocument {
  if (typeof entry === 'string') return { text: entry, cacheControl: null };
  const { document, cacheControl = null, ...others } = isJsonObject(entry) ? entry : {};
  if (typeof document !== 'string' || Object.keys(others).length > 0)
    throw new TypeError(`The document ${quote(id)} must be a string, or an object with "document" and perhaps "cacheControl".`);
  if (cacheControl === null) return { text: document, cacheControl };
  if (typeof cacheControl !== 'string') throw new TypeError(`The cacheControl of the document ${quote(id)} must be a string.`);
  checkCacheControl(cacheControl, `The cacheControl of the document ${quote(id)} `);
  return { text: document, cacheControl };
}

/** Checks for functions: a plain object may have documents with these ids. */
function isFinder(documents: TrustedDocuments | DocumentsById): documents is TrustedDocuments {
  return typeof documents.get === 'function' && typeof documents.hasText === 'function';
}
