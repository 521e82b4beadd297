/**
 * Remembers the caller across reloads. A role and its claims are not secret, and stay in this browser; a pasted key is kept only if the
 * user wants that, and only until the tab is closed.
 */
import { isCaller, type PageCaller } from './page-caller.ts';

const item = 'rowgraph:caller';

/** The remembered caller; null if there is none. */
export function loadCaller(): PageCaller | null {
  try {
    const text = sessionStorage.getItem(item) ?? localStorage.getItem(item);
    const caller = text === null ? null : (JSON.parse(text) as PageCaller);
    return isCaller(caller) ? caller : null;
  } catch {
    // Storage is not allowed, or has other content.
    return null;
  }
}

/** Remembers the caller instead of the previous one; a pasted key only if `keepsKey`. */
export function rememberCaller(caller: PageCaller, keepsKey: boolean): void {
  try {
    sessionStorage.removeItem(item);
    localStorage.removeItem(item);
    if (caller.kind === 'role') localStorage.setItem(item, JSON.stringify(caller));
    else if (keepsKey) sessionStorage.setItem(item, JSON.stringify(caller));
  } catch {
    // Without storage, nothing is remembered.
  }
}
