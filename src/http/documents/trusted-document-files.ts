/**
 * Reads trusted documents from a JSON file, or from all JSON files in a folder: `{"id": "query …"}`, as Relay and GraphQL Code Generator
 * write it, or the manifest of Apollo Client. An entry may also be an object with the document and its Cache-Control, or with only the
 * Cache-Control if another file has the document.
 */
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { isJsonObject } from '../../errors/api-error.ts';
import type { Observer } from '../../events.ts';
import { readMembers, readStamp, readTextFile, WatchedFiles } from '../../files/watched-files.ts';
import { checkCacheControl } from '../../settings/check-settings.ts';
import { DocumentMap, type TrustedDocument, type TrustedDocuments } from './trusted-documents.ts';

const mostBytes = 64 * 1024 ** 2;

/** What one file says about a document; null for what it does not say. */
interface Entry {
  readonly text: string | null;
  readonly cacheControl: string | null;
}

/** The documents by id. Throws an `Error` that names the broken file. */
export async function readDocuments(location: string): Promise<ReadonlyMap<string, TrustedDocument>> {
  const entries = new Map<string, Entry>();
  for (const file of await listFiles(location)) {
    for (const [id, entry] of parseDocuments(file, await readTextFile(file, mostBytes))) {
      try {
        entries.set(id, join(entries.get(id), entry));
      } catch (error) {
        throw new Error(`${file}: ${(error as Error).message} for the id ${quote(id)}; give each document its own id`);
      }
    }
  }
  return new Map([...entries].map(([id, entry]) => [id, complete(id, entry, location)]));
}

function join(existing: Entry | undefined, entry: Entry): Entry {
  if (existing === undefined) return entry;
  if (existing.text !== null && entry.text !== null && existing.text !== entry.text)
    throw new Error('another file has a different document');
  if (existing.cacheControl !== null && entry.cacheControl !== null && existing.cacheControl !== entry.cacheControl)
    throw new Error('another file has a different "cacheControl"');
  return { text: existing.text ?? entry.text, cacheControl: existing.cacheControl ?? entry.cacheControl };
}

function complete(id: string, { text, cacheControl }: Entry, location: string): TrustedDocument {
  if (text === null) throw new Error(`${location}: ${quote(id)} has a "cacheControl" but no document; remove it`);
  return { text, cacheControl };
}

/** The files at a path: the file itself, or the JSON files in the folder. */
async function listFiles(location: string): Promise<readonly string[]> {
  if (!(await stat(location)).isDirectory()) return [location];
  const names = (await readdir(location)).filter((name) => name.endsWith('.json')).sort();
  if (names.length === 0) throw new Error(`${location} has no .json file; put the map of ids to documents there`);
  return names.map((name) => path.join(location, name));
}

function parseDocuments(file: string, text: string): readonly (readonly [id: string, entry: Entry])[] {
  const content = readMembers(file, text, 'ids and documents');
  const entries = content.format === 'apollo-persisted-query-manifest' ? readManifest(content.operations) : Object.entries(content);
  return entries.map(([id, entry]) => {
    if (typeof id !== 'string' || id === '') throw new Error(`${file}: an id is empty; give each document an id`);
    try {
      return [id, readEntry(entry)];
    } catch (error) {
      throw new Error(`${file}: the document of ${quote(id)} ${(error as Error).message}`);
    }
  });
}

function readEntry(entry: unknown): Entry {
  if (typeof entry === 'string') return { text: entry, cacheControl: null };
  if (!isJsonObject(entry)) throw new Error('must be a string, or an object with "document" and "cacheControl"');
  const { document = null, cacheControl = null, ...others } = entry;
  const isNothing = document === null && cacheControl === null;
  if (isNothing || Object.keys(others).length > 0) throw new Error('must be a string, or an object with "document" and "cacheControl"');
  if (document !== null && typeof document !== 'string') throw new Error('must be a string');
  if (cacheControl !== null && typeof cacheControl !== 'string') throw new Error('must have a string as "cacheControl"');
  if (cacheControl !== null) checkCacheControl(cacheControl, 'has a "cacheControl" that ');
  return { text: document, cacheControl };
}

/** An operation in the manifest has its document as `body`, and optionally a `cacheControl`. */
function readManifest(operations: unknown): readonly (readonly [unknown, unknown])[] {
  if (!Array.isArray(operations)) return [];
  return operations.map((operation) => {
    if (!isJsonObject(operation)) return ['', null];
    const { id, body, cacheControl } = operation;
    return [id, cacheControl === undefined ? body : { document: body, cacheControl }];
  });
}

function quote(id: string): string {
  return JSON.stringify(id);
}

export class WatchedDocuments implements TrustedDocuments {
  readonly #files: WatchedFiles<DocumentMap>;

  private constructor(files: WatchedFiles<DocumentMap>) {
    this.#files = files;
  }

  /** Reads the documents. Rejects with an `Error` that says what is wrong with the files. */
  static async open(location: string, observe: Observer, interval?: number): Promise<WatchedDocuments> {
    const files = {
      read: async () => new DocumentMap(await readDocuments(location)),
      readStamp: async () => readStamp(await listFiles(location)),
      onLoad: ({ all }: DocumentMap) => observe({ kind: 'files-loaded', content: 'trusted documents', count: all.size }),
      onFailure: (error: Error) => observe({ kind: 'files-load-failed', content: 'trusted documents', error }),
    };
    return new WatchedDocuments(await WatchedFiles.open(files, interval));
  }

  /** All documents, by id. */
  get all(): ReadonlyMap<string, TrustedDocument> {
    return this.#files.current.all;
  }

  get(id: string): TrustedDocument | undefined {
    return this.#files.current.get(id);
  }

  hasText(text: string): boolean {
    return this.#files.current.hasText(text);
  }

  /** Reads the files again if they have changed. Never rejects. */
  refresh(): Promise<void> {
    return this.#files.refresh();
  }

  stop(): void {
    this.#files.stop();
  }
}
