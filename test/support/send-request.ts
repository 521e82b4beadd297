/** Requests whose head `fetch` refuses to send. Out: the head of the response, and its body as text. */
import { once } from 'node:events';
import { type IncomingMessage, type RequestOptions, request } from 'node:http';
import { text } from 'node:stream/consumers';

export interface ReceivedResponse {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** Sends it on a connection of its own, to this machine unless the options say otherwise. */
export async function sendRequest(options: RequestOptions, body?: string): Promise<ReceivedResponse> {
  const sending = request({ host: '127.0.0.1', agent: false, ...options });
  // Once there is a response, reading it tells what goes wrong.
  sending.on('error', () => {});
  const [response] = (await once(sending.end(body), 'response')) as [IncomingMessage];
  return { status: response.statusCode ?? 0, headers: response.headers, body: await text(response) };
}
