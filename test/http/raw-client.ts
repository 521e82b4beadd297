/** A client that writes bytes as they are, for requests that no proper client sends. Out: the connection, and the responses that came on it. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

export interface RawClient {
  readonly socket: Socket;
  /** Everything that was received, one character for each byte. */
  received(): string;
  /** Resolves with the responses when there are so many of them. */
  answers(count: number): Promise<readonly RawAnswer[]>;
  /** Resolves with all responses when the connection has closed. */
  closed(): Promise<readonly RawAnswer[]>;
}

/** Connects and sends the bytes. */
export async function connectRaw(port: number, bytes = ''): Promise<RawClient> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  let received = '';
  const readAnswers = createAnswerReader();
  socket.setEncoding('latin1');
  socket.on('data', (chunk: string) => {
    received += chunk;
  });
  await once(socket, 'connect');
  socket.write(bytes);
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  return {
    socket,
    received: () => received,
    answers: async (count) => {
      while (readAnswers(received).length < count) {
        if (socket.closed) throw new Error(`the connection closed after ${JSON.stringify(received.slice(0, 500))}`);
        await Promise.race([once(socket, 'data'), closed]);
      }
      return readAnswers(received);
    },
    closed: async () => {
      await closed;
      return readAnswers(received);
    },
  };
}

/** Sends bytes and resolves with the responses when the server has ended the connection. */
export async function exchange(port: number, bytes: string): Promise<readonly RawAnswer[]> {
  return (await connectRaw(port, bytes)).closed();
}

/** A good request, whose head has these further lines. */
export function rawRequest(
  key: string,
  { lines = [], body = '{"query":"{ __typename }"}' }: { lines?: string[]; body?: string } = {},
): string {
  const head = ['POST /graphql/v1 HTTP/1.1', 'host: x', `apikey: ${key}`, 'content-type: application/json', ...lines];
  return `${head.join('\r\n')}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

/** Reads answers off what was received, as far as they are complete; each has a length, or no body. */
function createAnswerReader(): (received: string) => readonly RawAnswer[] {
  const answers: RawAnswer[] = [];
  let start = 0;
  // What was received is copied whenever it is looked at, so a large body is not looked at before it is there.
  let wanted = 0;
  return (received) => {
    while (received.length >= wanted) {
      const end = received.indexOf('\r\n\r\n', start);
      if (end === -1) return answers;
      const [statusLine = '', ...lines] = received.slice(start, end).split('\r\n');
      const headers = new Headers(lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]));
      const length = Number(headers.get('content-length') ?? 0);
      wanted = end + 4 + length;
      if (received.length < wanted) break;
      const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(statusLine)?.[1]);
      answers.push({ status, headers, body: received.slice(end + 4, wanted) });
      start = wanted;
    }
    return answers;
  };
}
