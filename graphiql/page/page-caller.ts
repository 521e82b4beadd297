/** The caller: somebody for whom the page's backend signs a token, or the owner of a pasted key or token. */
import { type Claims, decodeToken } from './decode-token.ts';

export type PageCaller = RoleCaller | KeyCaller;

/** Only if `rowgraph dev` signs for the page. */
export interface RoleCaller {
  readonly kind: 'role';
  readonly role: string;
  readonly claims: Claims;
}

export interface KeyCaller {
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
