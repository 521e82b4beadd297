/**
 * Keeps the changes of each caller and table until they are sent: another view, another table and another caller leave them. A reload of the page forgets
 * them, and the browser asks before.
 */
import { useCallback, useSyncExternalStore } from 'react';
import { usePage } from '../page-context.ts';
import type { Changes, Problem } from './changes.ts';

interface Pending {
  readonly changes: Changes;
  /** What was before each change, for the undo. */
  readonly past: readonly Changes[];
  /** By the id of the change. */
  readonly problems: ReadonlyMap<string, Problem>;
}

const nothing: Pending = { changes: [], past: [], problems: new Map() };

class PendingChanges {
  readonly #pending = new Map<string, Pending>();
  readonly #listeners = new Set<() => void>();

  get(name: string): Pending {
    return this.#pending.get(name) ?? nothing;
  }

  set(name: string, pending: Pending): void {
    if (pending.changes.length === 0 && pending.past.length === 0) this.#pending.delete(name);
    else this.#pending.set(name, pending);
    for (const listener of this.#listeners) listener();
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly hasAny = (): boolean => [...this.#pending.values()].some(({ changes }) => changes.length > 0);
}

const pendingChanges = new PendingChanges();
addEventListener('beforeunload', (event) => {
  if (pendingChanges.hasAny()) event.preventDefault();
});

export interface TableChanges extends Pending {
  readonly change: (next: (changes: Changes) => Changes) => void;
  readonly undo: () => void;
  /** After an attempt to send: what was done, and what the server had against the others. What was changed meanwhile stays. */
  readonly settle: (done: Changes, problems: ReadonlyMap<string, Problem>) => void;
}

/** The changes of the current caller to a table. */
export function usePendingChanges(table: string): TableChanges {
  const { caller } = usePage();
  const name = JSON.stringify([caller, table]);
  const pending = useSyncExternalStore(
    pendingChanges.subscribe,
    useCallback(() => pendingChanges.get(name), [name]),
  );
  return {
    ...pending,
    change: (next) => {
      const { changes, past, problems } = pendingChanges.get(name);
      const changed = next(changes);
      // What the server had against a change says nothing about it once it is another.
      const kept = [...problems].filter(([id]) => changed.some((change) => change.id === id && changes.includes(change)));
      pendingChanges.set(name, { changes: changed, past: [...past, changes], problems: new Map(kept) });
    },
    undo: () => {
      const { past, problems } = pendingChanges.get(name);
      const before = past.at(-1);
      if (before !== undefined) pendingChanges.set(name, { changes: before, past: past.slice(0, -1), problems });
    },
    settle: (done, problems) => {
      const { changes, past } = pendingChanges.get(name);
      if (done.length === 0) return pendingChanges.set(name, { changes, past, problems });
      // What was done cannot be undone any more.
      pendingChanges.set(name, { changes: changes.filter((change) => !done.includes(change)), past: [], problems });
    },
  };
}
