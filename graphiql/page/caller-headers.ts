/** The headers that identify the caller to the server. Their token is renewed before it expires. */

import type { PageBackend } from './page-backend.ts';
import type { PageCaller } from './page-caller.ts';

/** In milliseconds. A token that is about to expire is no longer used: clocks differ, and requests take time. */
const margin = 60_000;

interface Signed {
  readonly token: string;
  readonly expiresAt: number;
}

export class CallerHeaders {
  readonly #backend: Pick<PageBackend, 'sign'> | null;
  readonly #signed = new Map<string, Signed>();

  constructor(backend: Pick<PageBackend, 'sign'> | null) {
    this.#backend = backend;
  }

  /**
   * Rejects if the server does not sign for this caller. `wasRefused`: the server rejected the previous headers, because it was restarted
   * with another secret.
   */
  async of(caller: PageCaller, wasRefused = false): Promise<Readonly<Record<string, string>>> {
    if (caller.kind === 'role') return { apiKey: await this.#sign(caller.role, caller.claims, wasRefused) };
    const { key, token } = caller;
    return { ...(key !== '' && { apiKey: key }), ...(token !== '' && { authorization: `Bearer ${token}` }) };
  }

  async #sign(role: string, claims: Readonly<Record<string, unknown>>, wasRefused: boolean): Promise<string> {
    if (this.#backend === null) throw new Error('This server signs no tokens for its page: paste a key.');
    const name = JSON.stringify([role, claims]);
    const known = this.#signed.get(name);
    if (!wasRefused && known !== undefined && known.expiresAt - margin > Date.now()) return known.token;
    const { token, expiresAt } = await this.#backend.sign(role, claims);
    this.#signed.set(name, { token, expiresAt: expiresAt * 1000 });
    return token;
  }
}
