/** The caller: somebody for whom the page's backend signs a token, or the owner of a pasted key or token. */
import { type Claims, decodeToken } from './decode-token.ts';

export type PageCaller = RoleCaller | KeyCaller;

/** Only if `rowgraph dev` signs for the page. */
export interface RoleCaller {
  readonly kind: 'role';
  readonly role: string;
  readonly claims: Claims;
}

interface KeyCaller {
  readonly kind: 'key';
  /** For the `apiKey` header. */
  readonly key: string;
  /** For the `Authorization` header; '' for none. */
  readonly token: string;
}

/** Whether requests of the caller can have a role at all. */
export function hasKey(caller: PageCaller): boolean {
  return caller.kind === 'role' || caller.key !== '' || caller.token !== '';
}

/** The role of the caller, as far as the key or the token says; null for opaque keys. */
export function roleOf(caller: PageCaller): string | null {
  if (caller.kind === 'role') return caller.role;
  const role = decodeToken(caller.token === '' ? caller.key : caller.token)?.role;
  return typeof role === 'string' ? role : null;
}

/** Whether a value that was stored is a caller. */
export function isCaller(value: unknown): value is PageCaller {
  const { kind, role, claims, key, token } = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (kind === 'role') return typeof role === 'string' && typeof claims === 'object' && claims !== null;
  return kind === 'key' && typeof key === 'string' && typeof token === 'string';
}

/**
 * Remembers the caller across reloads. A role and its claims are not secret, and stay in this browser; a pasted key is kept only if the
 * user wants that, and only until the tab is closed.
 */
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
