/** The metrics of subscriptions and of the WebSockets that carry them, as far as transports know them. */
import type { Event } from '../events.ts';
import { type Metric, metric } from './metrics.ts';

export class LiveMetrics {
  readonly #running = new Map<string, number>();
  readonly #ended = new Map<string, number>();
  #sockets = 0;
  #answers = 0;
  #bytes = 0;

  /** Whether the event is one of those that are counted here. */
  count(event: Event): boolean {
    switch (event.kind) {
      case 'subscription-started':
        add(this.#running, event.transport, 1);
        return true;
      case 'subscription-ended':
        add(this.#running, event.transport, -1);
        add(this.#ended, event.code ?? 'OK', 1);
        this.#answers += event.answers;
        this.#bytes += event.bytes;
        return true;
      case 'socket-opened':
        this.#sockets += 1;
        return true;
      case 'socket-closed':
        this.#sockets -= 1;
        return true;
      default:
        return false;
    }
  }

  read(): Metric[] {
    const running = [...this.#running].map(([transport, value]) => ({ labels: { transport }, value }));
    const ended = [...this.#ended].map(([code, value]) => ({ labels: { code }, value }));
    return [
      metric('gauge', 'rowgraph_subscriptions', 'Subscriptions that run, by what carries their answers.', running),
      metric(
        'counter',
        'rowgraph_subscriptions_ended_total',
        'Subscriptions that have ended, by the reason (OK if the client ended them).',
        ended,
      ),
      metric('counter', 'rowgraph_subscription_answers_total', 'Answers sent to subscriptions that have ended.', this.#answers),
      metric('counter', 'rowgraph_subscription_bytes_total', 'Bytes of these answers.', this.#bytes),
      metric('gauge', 'rowgraph_websockets', 'Open WebSockets.', this.#sockets),
    ];
  }
}

function add(counts: Map<string, number>, name: string, more: number): void {
  counts.set(name, (counts.get(name) ?? 0) + more);
}
