/** Who asks: somebody whom the page's backend signs a token for, or whoever a pasted key or token belongs to. */
import type { Claims } from './decode-token.ts';

export type PageCaller = RoleCaller | KeyCaller;

/** Only where `rowgraph dev` signs for the page. */
export interface RoleCaller {
  readonly kind: 'role';
  readonly role: string;
  readonly claims: Claims;
}

export interface KeyCaller {
  readonly kind: 'key';
  /** For the header `apiKey`. */
  readonly key: string;
  /** For the header `Authorization`; '' for none. */
  readonly token: string;
}
