/**
 * The saved operations: files of a folder where `rowgraph dev` has one, otherwise in this browser. A change names the version that it
 * replaces, so that two tabs, and an editor outside, do not overwrite each other.
 */
import type { KeptOperation, OperationChange, SavedOperation } from '../../src/http/routes/graphiql-page.ts';
import type { PageBackend } from './page-backend.ts';

export interface OperationStore {
  /** Where they are, for people. */
  readonly place: string;
  readonly list: () => Promise<readonly SavedOperation[]>;
  readonly save: (name: string, change: OperationChange, version: string | null) => Promise<KeptOperation>;
  readonly move: (name: string, to: string, version: string) => Promise<KeptOperation>;
  readonly remove: (name: string, version: string) => Promise<KeptOperation>;
}

export function chooseStore(backend: PageBackend | null, folder: string | null): OperationStore {
  if (backend === null || folder === null) return browserStore;
  return {
    place: `in ${folder}`,
    list: () => backend.listOperations(),
    save: (name, change, version) => backend.saveOperation(name, change, version),
    move: (name, to, version) => backend.moveOperation(name, to, version),
    remove: (name, version) => backend.removeOperation(name, version),
  };
}

const item = 'rowgraph:operations';

const browserStore: OperationStore = {
  place: 'in this browser',
  list: async () => readItem(),
  save: (name, change, version) =>
    changeItem((all) => {
      const current = find(all, name);
      checkName(name);
      if ((current?.version ?? null) !== version) return { stale: current };
      return { kept: { ...change, name, version: newVersion() } };
    }, name),
  move: (name, to, version) =>
    changeItem((all) => {
      const [current, taken] = [find(all, name), find(all, to)];
      checkName(to);
      if (current?.version !== version) return { stale: current };
      if (taken !== null) return { stale: taken };
      return { kept: { ...current, name: to, version: newVersion() } };
    }, name),
  remove: (name, version) =>
    changeItem((all) => {
      const current = find(all, name);
      return current === null || current.version === version ? { kept: null } : { stale: current };
    }, name),
};

/** Puts what is kept in the place of what has the name. Other tabs wait, where the browser has locks: on HTTPS and on localhost. */
function changeItem(change: (all: readonly SavedOperation[]) => KeptOperation, name: string): Promise<KeptOperation> {
  const run = async (): Promise<KeptOperation> => {
    const all = readItem();
    const answer = change(all);
    if ('kept' in answer) {
      const others = all.filter((each) => each.name !== name);
      const next = answer.kept === null ? others : [...others, answer.kept];
      try {
        localStorage.setItem(item, JSON.stringify(next.toSorted((one, other) => (one.name < other.name ? -1 : 1))));
      } catch {
        throw new Error('This browser does not let the page keep anything more. Remove saved operations, or allow storage for this site.');
      }
    }
    return answer;
  };
  return 'locks' in navigator ? navigator.locks.request(item, run) : run();
}

function readItem(): readonly SavedOperation[] {
  try {
    const all: unknown = JSON.parse(localStorage.getItem(item) ?? '[]');
    return Array.isArray(all) ? all.filter(isOperation) : [];
  } catch {
    // Storage is not allowed, or has other content.
    return [];
  }
}

function isOperation(value: unknown): value is SavedOperation {
  const operation = (value ?? {}) as Readonly<Record<string, unknown>>;
  return ['name', 'query', 'variables', 'version'].every((name) => typeof operation[name] === 'string');
}

/** `crypto.randomUUID` is missing on plain HTTP. */
function newVersion(): string {
  return `${Date.now()}-${Math.random()}`;
}

function find(all: readonly SavedOperation[], name: string): SavedOperation | null {
  return all.find((each) => each.name === name) ?? null;
}

function checkName(name: string): void {
  if (name.split('/').some((part) => part.trim() === ''))
    throw new Error(`"${name}" cannot name a saved operation: folders and names, joined by "/", must not be empty.`);
}

export interface LibraryState {
  /** Null until they have been read. */
  readonly operations: readonly SavedOperation[] | null;
  /** Why they could not be read. */
  readonly error: string | null;
}

/** What the store has, as last read; read again after each change, and whenever the page is looked at again. */
export class OperationLibrary {
  readonly store: OperationStore;
  #state: LibraryState = { operations: null, error: null };
  /** How often the store was read. */
  #reads = 0;
  readonly #listeners = new Set<() => void>();

  constructor(store: OperationStore) {
    this.store = store;
    // Other tabs say when they change the storage; what changes a folder is seen when the page is looked at again.
    for (const event of ['focus', 'storage']) window.addEventListener(event, () => void this.refresh());
  }

  readonly get = (): LibraryState => this.#state;

  /** Until the returned function is called. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    if (this.#state.operations === null) void this.refresh();
    return () => this.#listeners.delete(listener);
  };

  async refresh(): Promise<void> {
    const { operations } = this.#state;
    const place = ++this.#reads;
    const state = await this.store.list().then(
      (read) => ({ operations: read, error: null }),
      (error: Error) => ({ operations, error: error.message }),
    );
    // What was asked before a change may be answered after it.
    if (place !== this.#reads) return;
    this.#state = state;
    for (const listener of this.#listeners) listener();
  }

  /** Makes a change of the store, and reads it again. */
  async change(make: (store: OperationStore) => Promise<KeptOperation>): Promise<KeptOperation> {
    try {
      return await make(this.store);
    } finally {
      await this.refresh();
    }
  }
}
