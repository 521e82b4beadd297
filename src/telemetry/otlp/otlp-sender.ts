/**
 * Sends OTLP messages as JSON over HTTP (https://opentelemetry.io/docs/specs/otlp/#otlphttp). In: messages; out: whether they arrived.
 * Sends one at a time; a message that fails is lost, so that a receiver that is down costs neither memory nor time.
 */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Observer } from '../../events.ts';
import type { OtlpTarget } from './otlp-settings.ts';

const compress = promisify(gzip);

export class OtlpSender {
  readonly #target: OtlpTarget;
  readonly #observe: Observer;
  #isSending = false;

  constructor(target: OtlpTarget, observe: Observer) {
    this.#target = target;
    this.#observe = observe;
  }

  /** Whether a message is being sent. */
  get isBusy(): boolean {
    return this.#isSending;
  }

  /** Sends a message. Never rejects; a failure is reported. */
  async send(message: object): Promise<void> {
    const { url, headers, timeout, isCompressed } = this.#target;
    this.#isSending = true;
    try {
      const json = JSON.stringify(message);
      const body = isCompressed ? await compress(json) : json;
      const encoding = isCompressed ? { 'content-encoding': 'gzip' } : {};
      const response = await fetch(url, {
        method: 'POST',
        headers: { ...headers, ...encoding, 'content-type': 'application/json' },
        body,
        // A header may hold a key, which is for this receiver only.
        redirect: 'error',
        signal: AbortSignal.timeout(timeout),
      });
      // The body is discarded so that the connection is free for the next message.
      await response.body?.cancel();
      if (!response.ok) throw new Error(`the receiver answered ${response.status}`);
    } catch (error) {
      this.#observe({ kind: 'telemetry-export-failed', url: withoutSecrets(url), error });
    } finally {
      this.#isSending = false;
    }
  }
}

/** A URL may hold a password or a key. */
function withoutSecrets(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}
