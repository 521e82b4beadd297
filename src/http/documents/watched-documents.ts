/**
 * Trusted documents in files, read again when the files change. In: their path; out: documents by id. While the files are broken or
 * missing, the documents that were read last stay in use.
 */
import type { Observer } from '../../events.ts';
import { readStamp } from '../../files/read-stamp.ts';
import { WatchedFiles } from '../../files/watched-files.ts';
import { listFiles, readDocuments } from './read-documents.ts';
import { DocumentMap, type TrustedDocument, type TrustedDocuments } from './trusted-documents.ts';

export class WatchedDocuments implements TrustedDocuments {
  readonly #files: WatchedFiles<DocumentMap>;

  private constructor(files: WatchedFiles<DocumentMap>) {
    this.#files = files;
  }

  /** Reads the documents. Rejects with an `Error` that says what is wrong with the files. */
  static async open(location: string, observe: Observer, interval?: number): Promise<WatchedDocuments> {
    const source = {
      read: async () => new DocumentMap(await readDocuments(location)),
      readStamp: async () => readStamp(await listFiles(location)),
      onLoad: ({ byId }: DocumentMap) => observe({ kind: 'files-loaded', content: 'trusted documents', count: byId.size }),
      onFailure: (error: Error) => observe({ kind: 'files-load-failed', content: 'trusted documents', error }),
    };
    return new WatchedDocuments(await WatchedFiles.open(source, interval));
  }

  /** All documents, by id. */
  get all(): ReadonlyMap<string, TrustedDocument> {
    return this.#files.current.byId;
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
