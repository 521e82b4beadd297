/**
 * A WebSocket as the HTML standard has it, for handlers of Fetch whose platform makes one of a request: Deno, and others with an adapter. It
 * tells neither when a message has been sent nor that the other side is alive, so both are found out by other means.
 */
import type { StandardWebSocket } from '../endpoint/endpoint-options.ts';
import type { MessageSocket, SocketListener } from '../endpoint/exchange.ts';

/** RFC 6455, section 7.4.1. */
const tooBig = 1009;
const connecting = 0;
const open = 1;
/** In bytes. With fewer waiting, a message counts as sent. */
const fewBytes = 64 * 1024;
/** In milliseconds, between looks at what waits. */
const pause = 50;

interface SocketBounds {
  /** Of a message, in bytes. */
  readonly maxPayload: number;
  /** In milliseconds. */
  readonly writeTimeout: number;
}

/** Resolves when the socket is open. Rejects if it closes first. */
export async function openStandardSocket(socket: StandardWebSocket, bounds: SocketBounds): Promise<MessageSocket> {
  if (socket.readyState === connecting)
    await new Promise<void>((resolve, reject) => {
      socket.addEventListener('open', () => resolve());
      socket.addEventListener('close', () => reject(new Error('The WebSocket closed before it was open.')));
    });
  return new StandardSocket(socket, bounds);
}

class StandardSocket implements MessageSocket {
  readonly #socket: StandardWebSocket;
  readonly #bounds: SocketBounds;

  constructor(socket: StandardWebSocket, bounds: SocketBounds) {
    this.#socket = socket;
    this.#bounds = bounds;
  }

  get protocol(): string {
    return this.#socket.protocol;
  }

  listen(listener: SocketListener): void {
    const socket = this.#socket;
    socket.addEventListener('message', ({ data }) => {
      if (typeof data === 'string' && data.length > this.#bounds.maxPayload) this.close(tooBig, 'The message is too large.');
      else if (typeof data === 'string') listener.message(Buffer.from(data), false);
      else listener.message(Buffer.alloc(0), true);
    });
    socket.addEventListener('close', () => listener.gone());
    socket.addEventListener('error', () => {});
    if (socket.readyState > open) listener.gone();
  }

  send(pieces: readonly Uint8Array[], onSent: () => void): void {
    if (this.#socket.readyState !== open) return onSent();
    this.#socket.send(Buffer.concat(pieces).toString());
    this.#awaitSent(performance.now() + this.#bounds.writeTimeout, onSent);
  }

  /** By a message of the protocol, which its client answers by a `pong`. */
  ping(): void {
    if (this.#socket.readyState === open) this.#socket.send('{"type":"ping"}');
  }

  /** Nothing can be held back. */
  pause(): void {}

  resume(): void {}

  close(code: number, reason: string): void {
    // The standard lets no program use a code below 3000 but 1000.
    if (code < 3000) this.#socket.close(4000 + (code % 1000), reason);
    else this.#socket.close(code, reason);
  }

  terminate(): void {
    this.#socket.close(1000);
  }

  #awaitSent(deadline: number, onSent: () => void): void {
    if (this.#socket.readyState !== open || this.#socket.bufferedAmount < fewBytes) return onSent();
    if (performance.now() > deadline) {
      this.terminate();
      return onSent();
    }
    setTimeout(() => this.#awaitSent(deadline, onSent), pause);
  }
}
