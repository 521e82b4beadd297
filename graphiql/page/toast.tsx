/** A line that says for a few seconds what has just been done. */
import { useSyncExternalStore } from 'react';

let said = { text: '', times: 0 };
const listeners = new Set<() => void>();

export function say(text: string): void {
  said = { text, times: said.times + 1 };
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Where it is said: once in the page. */
export function Toast() {
  const { text, times } = useSyncExternalStore(subscribe, () => said);
  // A key for each, so that the same text appears again. The element around it stays, or screen readers would not hear of it.
  return (
    <output className="toast-place">
      {text !== '' && (
        <span key={times} className="toast">
          {text}
        </span>
      )}
    </output>
  );
}
