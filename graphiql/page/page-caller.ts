/** The caller: somebody for whom the page's backend signs a token, or the owner of a pasted key or token. */
import type { Claims } from './decode-token.ts';

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
