/** The trusted documents of a server. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ApiError } from '../../errors/api-error.ts';
import type { Event, Observer } from '../../events.ts';
import { WatchedDocuments } from '../../http/documents/trusted-document-files.ts';
import type { TrustedDocument } from '../../http/documents/trusted-documents.ts';
import type { Rowgraph } from '../../index.ts';
import { ConfigurationError } from '../config.ts';

interface DocumentSettings {
  readonly trustedDocuments: string | undefined;
  readonly onlyTrustedDocuments: boolean;
}

/** Null if there are none. Throws `ConfigurationError` if they cannot be read. */
export async function openTrustedDocuments(
  { trustedDocuments, onlyTrustedDocuments }: DocumentSettings,
  observe: Observer,
): Promise<WatchedDocuments | null> {
  if (trustedDocuments === undefined) {
    if (!onlyTrustedDocuments) return null;
    throw new ConfigurationError(['--only-trusted-documents refuses every request without --trusted-documents: name their file or folder']);
  }
  try {
    return await WatchedDocuments.open(trustedDocuments, observe);
  } catch (error) {
    throw new ConfigurationError([`--trusted-documents: ${(error as Error).message}`]);
  }
}

/** The roles for which trusted documents are checked: those of the setting, or else Supabase's usual roles. */
export function documentRolesOf({
  documentRoles,
  anonRole,
}: {
  readonly documentRoles: readonly string[];
  readonly anonRole: string;
}): readonly string[] {
  return documentRoles.length > 0 ? documentRoles : [...new Set([anonRole, 'authenticated'])];
}

/** What to check, and for whom. */
interface CheckedDocuments {
  readonly documents: { readonly all: ReadonlyMap<string, TrustedDocument> };
  readonly graph: Pick<Rowgraph, 'prepare'>;
  readonly roles: readonly string[];
  /** Receives an event for each role and check. */
  readonly report: Observer;
}

export class DocumentCheck {
  #checked: CheckedDocuments | null = null;
  #running: Promise<void> | null = null;
  #isDue = false;

  /** Checks for the first time, once there is something to check. */
  begin(checked: CheckedDocuments): void {
    this.#checked = checked;
    this.#run();
  }

  end(): void {
    this.#checked = null;
  }

  /** Must be called with the events of the documents and the graph. */
  notice(event: Event): void {
    if (this.#checked === null) return;
    if (event.kind === 'schema-loaded' || (event.kind === 'files-loaded' && event.content === 'trusted documents')) this.#run();
  }

  /** Checks, and checks once more if something is loaded meanwhile. */
  #run(): void {
    this.#isDue = true;
    this.#running ??= this.#runWhileDue().finally(() => {
      this.#running = null;
    });
  }

  /** Never rejects. */
  async #runWhileDue(): Promise<void> {
    while (this.#isDue) {
      this.#isDue = false;
      // What was loaded takes effect only after this turn of the event loop.
      await nextTurn();
      for (const role of this.#checked?.roles ?? []) await this.#checkFor(role);
    }
  }

  async #checkFor(role: string): Promise<void> {
    if (this.#checked === null) return;
    const { documents, graph, report } = this.#checked;
    const { all } = documents;
    try {
      const problems = await checkDocuments(all, graph, role);
      report({ kind: 'documents-checked', role, count: all.size, problems: [...problems.values()] });
    } catch {
      // If the role or the database is missing, requests fail and report that.
    }
  }
}

/**
 * The problems by the id of their document, each prefixed with it. Rejects if requests cannot run as the role, or the database cannot be
 * reached.
 */
export async function checkDocuments(
  documents: ReadonlyMap<string, TrustedDocument>,
  graph: Pick<Rowgraph, 'prepare'>,
  role: string,
): Promise<ReadonlyMap<string, string>> {
  const problems = new Map<string, string>();
  for (const [id, { text }] of documents) {
    const [error] = await graph.prepare(text, { role });
    if (error?.extensions.code === 'UNAUTHENTICATED') throw new ApiError('UNAUTHENTICATED', error.message);
    if (error !== undefined) problems.set(id, `${id}: ${error.message}`);
  }
  return problems;
}
