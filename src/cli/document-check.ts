/**
 * Keeps trusted documents checked and compiled for the roles that send them: at startup, and each time they or the schema have been loaded
 * again. In: the documents, the graph and the roles; out: an event per role.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Event, Observer } from '../events.ts';
import type { TrustedDocument } from '../http/documents/trusted-documents.ts';
import type { Rowgraph } from '../index.ts';
import { checkDocuments } from './check-documents.ts';

/** What to check, and for whom. */
export interface CheckedDocuments {
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
