/** Documents that requests may name by their id. In: a plain object or a map of them; out: the document of an id. */
import { checkCacheControl } from '../cache-control.ts';

/** A document that requests may name by its id. */
export interface TrustedDocument {
  readonly text: string;
  /** The Cache-Control header of responses to GET requests that name it; null if that of the server holds. */
  readonly cacheControl: string | null;
}

/** The trusted documents as they are now. */
export interface TrustedDocuments {
  get(id: string): TrustedDocument | undefined;
  hasText(text: string): boolean;
}

/** What a program may give: documents by id, some with a Cache-Control of their own. */
export type DocumentsById = Readonly<Record<string, string | { readonly document: string; readonly cacheControl?: string }>>;

const hashPrefix = 'sha256:';

export class DocumentMap implements TrustedDocuments {
  readonly byId: ReadonlyMap<string, TrustedDocument>;
  readonly #texts: ReadonlySet<string>;

  constructor(byId: ReadonlyMap<string, TrustedDocument>) {
    this.byId = byId;
    this.#texts = new Set([...byId.values()].map(({ text }) => text));
  }

  /** A hash may be written with its prefix or without, in the documents as in requests. */
  get(id: string): TrustedDocument | undefined {
    const other = id.startsWith(hashPrefix) ? id.slice(hashPrefix.length) : hashPrefix + id;
    return this.byId.get(id) ?? this.byId.get(other);
  }

  hasText(text: string): boolean {
    return this.#texts.has(text);
  }
}

/** Documents in either form: a plain object of ids and documents, or what finds them by itself. Throws an `Error` for a Cache-Control that is none. */
export function readTrustedDocuments(documents: TrustedDocuments | DocumentsById): TrustedDocuments {
  if (isFinder(documents)) return documents;
  return new DocumentMap(new Map(Object.entries(documents).map(([id, entry]) => [id, readDocument(id, entry)])));
}

function readDocument(id: string, entry: DocumentsById[string]): TrustedDocument {
  if (typeof entry === 'string') return { text: entry, cacheControl: null };
  const { document, cacheControl = null } = entry;
  if (cacheControl !== null) checkCacheControl(cacheControl, `The cacheControl of the document ${JSON.stringify(id)} `);
  return { text: document, cacheControl };
}

/** A plain object may have a document of the id `get`. */
function isFinder(documents: TrustedDocuments | DocumentsById): documents is TrustedDocuments {
  return typeof documents.get === 'function';
}
