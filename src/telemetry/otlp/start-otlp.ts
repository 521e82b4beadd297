/**
 * Sends OTLP messages as JSON over HTTP (https://opentelemetry.io/docs/specs/otlp/#otlphttp). Sends one at a time; a message that fails is
 * lost, so that a receiver that is down costs neither memory nor time.
 */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { RequestFinished, SubscriptionEnded } from '../../event-details.ts';
import type { Observer } from '../../events.ts';
import type { Metric } from '../metrics.ts';
import { attributesOf, encodeMetrics, encodeRequest, encodeSubscription, type Span } from './encode-otlp.ts';
import type { OtlpSettings, OtlpTarget } from './otlp-settings.ts';

const compress = promisify(gzip);

class OtlpSender {
  readonly #target: OtlpTarget;
  readonly #observe: Observer;
  #isSending = false;

  constructor(target: OtlpTarget, observe: Observer) {
    this.#target = target;
    this.#observe = observe;
  }

  get isBusy(): boolean {
    return this.#isSending;
  }

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

interface OtlpExport {
  readonly note: (event: RequestFinished) => void;
  readonly noteSubscription: (event: SubscriptionEnded) => void;
  /** Sends what is left, within this many milliseconds, and stops. */
  stop(milliseconds: number): Promise<void>;
}

/** Starts exporting. `readMetrics` returns the metrics of this process. */
export function startOtlp(settings: OtlpSettings, readMetrics: () => Promise<readonly Metric[]>, observe: Observer): OtlpExport {
  const { traces, metrics, resource: attributes } = settings;
  const resource = {
    attributes: attributesOf({
      'telemetry.sdk.name': 'rowgraph',
      'telemetry.sdk.language': 'nodejs',
      'process.pid': process.pid,
      ...attributes,
    }),
  };
  const spans = traces === null ? null : new SpanQueue(settings, traces, resource, observe);
  const sender = metrics === null ? null : new OtlpSender(metrics, observe);
  const sendMetrics = async (): Promise<void> => {
    if (sender === null || sender.isBusy) return;
    const reading = await readMetrics();
    await sender.send({ resourceMetrics: [{ resource, scopeMetrics: [{ scope, metrics: encodeMetrics(reading) }] }] });
  };
  const timer = sender === null ? null : setInterval(() => void sendMetrics(), settings.metricInterval).unref();
  return {
    note: (event) => spans?.note(event),
    noteSubscription: (event) => spans?.noteSubscription(event),
    stop: async (milliseconds) => {
      if (timer !== null) clearInterval(timer);
      const isLate = new Promise<void>((resolve) => setTimeout(resolve, milliseconds).unref());
      await Promise.race([Promise.all([spans?.flush(), sendMetrics()]), isLate]);
    },
  };
}

const scope = { name: 'rowgraph' };

class SpanQueue {
  readonly #settings: OtlpSettings;
  readonly #resource: object;
  readonly #sender: OtlpSender;
  readonly #observe: Observer;
  #waiting: Span[] = [];
  #timer: NodeJS.Timeout | null = null;
  #dropped = 0;

  constructor(settings: OtlpSettings, target: OtlpTarget, resource: object, observe: Observer) {
    this.#settings = settings;
    this.#resource = resource;
    this.#sender = new OtlpSender(target, observe);
    this.#observe = observe;
  }

  note(event: RequestFinished): void {
    if (event.details?.trace?.isSampled) this.#add(() => encodeRequest(event, event.details!));
  }

  noteSubscription(event: SubscriptionEnded): void {
    if (event.details?.trace?.isSampled) this.#add(() => [encodeSubscription(event, event.details!)]);
  }

  #add(encode: () => readonly Span[]): void {
    const { spanQueue, spanBatch, spanDelay } = this.#settings;
    if (this.#waiting.length >= spanQueue) {
      this.#dropped += 1;
      return;
    }
    this.#waiting.push(...encode());
    if (this.#waiting.length >= spanBatch) void this.#send();
    else this.#timer ??= setTimeout(() => void this.#send(), spanDelay).unref();
  }

  async flush(): Promise<void> {
    while (this.#waiting.length > 0) {
      if (this.#sender.isBusy) await new Promise((resolve) => setTimeout(resolve, 10));
      else await this.#sendBatch();
    }
  }

  async #send(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    while (this.#waiting.length > 0 && !this.#sender.isBusy) await this.#sendBatch();
  }

  async #sendBatch(): Promise<void> {
    const spans = this.#waiting.slice(0, this.#settings.spanBatch);
    this.#waiting = this.#waiting.slice(this.#settings.spanBatch);
    if (this.#dropped > 0) this.#observe({ kind: 'spans-dropped', requests: this.#dropped });
    this.#dropped = 0;
    await this.#sender.send({ resourceSpans: [{ resource: this.#resource, scopeSpans: [{ scope, spans }] }] });
  }
}
