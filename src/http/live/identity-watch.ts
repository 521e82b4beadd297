/** Finds out whether the caller of a live connection still counts. */
import type { Identity } from '../../auth/authenticate.ts';
import { ApiError } from '../../errors/api-error.ts';

export class IdentityWatch {
  identity: Identity;
  readonly #onRefused: (error: ApiError) => void;
  #isChecking = false;

  /** `onRefused` is called with UNAUTHENTICATED when its key or token has expired or has been revoked. */
  constructor(identity: Identity, onRefused: (error: ApiError) => void) {
    this.identity = identity;
    this.#onRefused = onRefused;
  }

  /** Never throws. */
  check(): void {
    if (this.#isChecking) return;
    const { identity } = this;
    try {
      const checking = identity.recheck();
      if (!(checking instanceof Promise)) return;
      this.#isChecking = true;
      void checking
        .catch((error: unknown) => {
          // A new token may have come meanwhile.
          if (identity === this.identity) this.#refuse(error);
        })
        .finally(() => {
          this.#isChecking = false;
        });
    } catch (error) {
      this.#refuse(error);
    }
  }

  /** If the keys of an issuer cannot be loaded now, the next check may say more. */
  #refuse(error: unknown): void {
    if (error instanceof ApiError && error.code === 'UNAUTHENTICATED') this.#onRefused(error);
  }
}
