/**
 * Pipelined requests whose bodies arrive in any framing and any pieces, some before the server has looked at the request, some too large, some from
 * clients that hang up. Each request gets its own response, in order.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectRaw } from '../http/raw-client.ts';
import { rawResponse, startTestServer } from '../http/start-test-server.ts';
import { RandomSource } from '../property/random-source.ts';

const bodyLimit = 100_000;
const clients = 150;

interface Sent {
  readonly bytes: string;
  /** What the response must be: the status, and the query for a good one. */
  readonly expected: readonly [status: number, query?: string];
}

function makeRequest(random: RandomSource, key: string, number: number): Sent {
  const query = `${number} ${'q'.repeat(random.chance(0.3) ? random.integer(1000, 120_000) : random.integer(0, 50))}`;
  const body = JSON.stringify({ query });
  const isKnown = random.chance(0.9);
  const lines = ['POST /graphql/v1 HTTP/1.1', 'host: x', `apikey: ${isKnown ? key : 'unknown'}`, 'content-type: application/json'];
  const isChunked = random.chance(0.5);
  lines.push(isChunked ? 'transfer-encoding: chunked' : `content-length: ${body.length}`);
  const framed = isChunked ? inChunks(random, body) : body;
  const status = !isKnown ? 401 : body.length > bodyLimit ? 413 : 200;
  return { bytes: `${lines.join('\r\n')}\r\n\r\n${framed}`, expected: status === 200 ? [status, query] : [status] };
}

function inChunks(random: RandomSource, body: string): string {
  const chunks: string[] = [];
  for (let start = 0; start < body.length; ) {
    const length = Math.min(random.integer(1, random.pick([10, 1000, 100_000])), body.length - start);
    chunks.push(`${length.toString(16)}\r\n${body.slice(start, start + length)}\r\n`);
    start += length;
  }
  return `${chunks.join('')}0\r\n\r\n`;
}

test('each request gets its own response, however its body arrives', async () => {
  const server = await startTestServer({
    bodyLimit,
    receiveTimeout: 3_600_000,
    execute: async ({ query }) => rawResponse(JSON.stringify({ data: { query } })),
  });
  const random = new RandomSource(29);
  const counts = { sent: 0, hungUp: 0, statuses: new Set<number>() };
  const play = async (): Promise<void> => {
    const requests = Array.from({ length: random.integer(1, 5) }, (_, number) => makeRequest(random, server.anonKey, number));
    const text = requests.map(({ bytes }) => bytes).join('');
    const hangsUpAt = random.chance(0.15) ? random.integer(0, text.length) : Infinity;
    const client = await connectRaw(server.port);
    for (let start = 0; start < Math.min(text.length, hangsUpAt); ) {
      const length = random.integer(1, random.pick([30, 5000, 200_000]));
      client.socket.write(text.slice(start, start + length));
      start += length;
      if (random.chance(0.3)) await new Promise(setImmediate);
    }
    if (hangsUpAt < Infinity) {
      counts.hungUp += 1;
      client.socket.destroy();
      await client.closed();
      return;
    }
    const answers = await client.answers(requests.length);
    for (const [index, { status, body }] of answers.entries()) {
      const query = status === 200 ? [(JSON.parse(body) as { data: { query: string } }).data.query] : [];
      assert.deepEqual([status, ...query], requests[index]!.expected);
      counts.statuses.add(status);
    }
    assert.equal(answers.length, requests.length);
    counts.sent += requests.length;
    client.socket.destroy();
  };
  try {
    for (let start = 0; start < clients; start += 15) await Promise.all(Array.from({ length: 15 }, play));
    assert.deepEqual([...counts.statuses].toSorted(), [200, 401, 413]);
    assert.ok(counts.sent > 300 && counts.hungUp > 5, JSON.stringify(counts));
  } finally {
    await server.close();
  }
});
