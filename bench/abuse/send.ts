/** Sends requests of attackers and victims over HTTP, and reports each outcome in one word. */
import { Agent, type ClientRequest, request } from 'node:http';

export interface Exchange {
  /** `ok`, the code of the first error, `HTTP <status>`, `closed` (the connection), `hung` (no answer in time) or `left` (by ourselves). */
  readonly outcome: string;
  readonly status: number;
  readonly body: string;
  readonly bytes: number;
}

export interface Sending {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
  readonly agent?: Agent | false;
  /** The client's address, on loopback. */
  readonly from?: string;
  readonly patience?: number;
  readonly signal?: AbortSignal;
  /** How many bytes of an answer to keep; more are only counted. */
  readonly keep?: number;
}

/** Many connections that are kept alive, like those of a proxy. */
export const makeAgent = (maxSockets: number): Agent => new Agent({ keepAlive: true, maxSockets });

/** Sends one request; never rejects. If its kept-alive connection had ended, it is sent again, as every client does. */
export async function send(sending: Sending): Promise<Exchange> {
  const first = await sendOnce(sending);
  return first === null ? ((await sendOnce({ ...sending, agent: false })) ?? closed) : first;
}

const closed: Exchange = { outcome: 'closed', status: 0, body: '', bytes: 0 };

function sendOnce({ url, headers, body, agent, from, patience = 60_000, signal, keep = 2 ** 20 }: Sending): Promise<Exchange | null> {
  return new Promise((resolve) => {
    let sent: ClientRequest | undefined;
    const finish = (exchange: Exchange | null): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', leave);
      resolve(exchange);
    };
    const give = (outcome: string) => (): void => {
      finish({ ...closed, outcome });
      sent?.destroy();
    };
    const leave = give('left');
    const timer = setTimeout(give('hung'), patience);
    if (signal?.aborted) return give('left')();
    signal?.addEventListener('abort', leave);
    const length = String(Buffer.byteLength(body));
    sent = request(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-length': length, ...headers },
      ...(agent !== undefined && { agent }),
      ...(from !== undefined && { localAddress: from }),
    });
    sent.once('error', (error: NodeJS.ErrnoException) => finish(sent.reusedSocket && error.code === 'ECONNRESET' ? null : closed));
    sent.once('response', (response) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        if (bytes < keep) chunks.push(chunk);
        bytes += chunk.length;
      });
      response.once('error', () => finish(closed));
      response.once('close', () => finish(closed));
      response.once('end', () => {
        const text = Buffer.concat(chunks).toString();
        const status = response.statusCode ?? 0;
        finish({ outcome: outcomeOf(status, text), status, body: text, bytes });
      });
    });
    sent.end(body);
  });
}

function outcomeOf(status: number, body: string): string {
  const code = /"code":"(\w+)"/.exec(body.slice(0, 5000))?.[1];
  if (code !== undefined) return code;
  if (body.startsWith('{"data":null,"errors"')) return 'a long error';
  if (status === 200) return body.startsWith('{"data":') ? 'ok' : 'without data';
  return `HTTP ${status}`;
}
