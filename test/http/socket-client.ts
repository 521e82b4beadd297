/** A client of WebSockets that sends what a test wants, however wrong. */
import { type ClientOptions, WebSocket } from 'ws';

interface Message {
  readonly id?: string;
  readonly type: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests know what they expect
  readonly payload?: any;
}

export interface SocketClient {
  readonly socket: WebSocket;
  send(message: unknown): void;
  /** The next message, as an object. Rejects if the socket closes first. */
  next(): Promise<Message>;
  /** Resolves with the code and the reason of the server's close. */
  readonly closed: Promise<{ code: number; reason: string }>;
}

export async function openSocket(
  url: string,
  { protocol = 'graphql-transport-ws', ...options }: Omit<ClientOptions, 'protocol'> & { protocol?: string | string[] } = {},
): Promise<SocketClient> {
  const socket = new WebSocket(url.replace(/^http/, 'ws'), protocol, options);
  const messages: Message[] = [];
  const waiting: PromiseWithResolvers<Message>[] = [];
  socket.on('message', (data: Buffer) => {
    const message = JSON.parse(data.toString());
    const first = waiting.shift();
    if (first === undefined) messages.push(message);
    else first.resolve(message);
  });
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.on('close', (code, reason) => {
      for (const { reject } of waiting) reject(new Error(`closed: ${code} ${reason}`));
      resolve({ code, reason: reason.toString() });
    });
  });
  await new Promise<void>((resolve, reject) => {
    socket.on('open', resolve);
    socket.on('unexpected-response', (_request, response) => reject(new Error(`status ${response.statusCode}`)));
    socket.on('error', reject);
  });
  return {
    socket,
    closed,
    send: (message) => socket.send(typeof message === 'string' || Buffer.isBuffer(message) ? message : JSON.stringify(message)),
    next() {
      const message = messages.shift();
      if (message !== undefined) return Promise.resolve(message);
      const next = Promise.withResolvers<Message>();
      waiting.push(next);
      return next.promise;
    },
  };
}

/** A socket whose client has said who it is. */
export async function connectSocket(url: string, payload: object, options?: Parameters<typeof openSocket>[1]): Promise<SocketClient> {
  const client = await openSocket(url, options);
  client.send({ type: 'connection_init', payload });
  const { type } = await client.next();
  if (type !== 'connection_ack') throw new Error(`expected connection_ack, got ${type}`);
  return client;
}
