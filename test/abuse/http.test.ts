/**
 * Hostile HTTP beside a good client: random heads, bodies, pipelines and hang-ups. Whatever comes, the good client gets each of its responses, an attacker
 * gets answers in our form or a closed connection, and when all have gone nothing is held for them any more.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../../src/errors/api-error.ts';
import { connectRaw, type RawAnswer, type RawClient } from '../http/raw-client.ts';
import { rawResponse, startTestServer, type TestServer } from '../http/start-test-server.ts';
import { RandomSource } from '../property/random-source.ts';
import { until } from '../support/until.ts';
import { type HostileExchange, makeHostileExchange } from './hostile-http.ts';

const seed = 13;
const exchangeCount = 700;
const atOnce = 60;

/** A graph that answers with the query it was asked, sometimes late, large or not at all. */
function startTarget(): Promise<TestServer> {
  let count = 0;
  return startTestServer({
    execute: async ({ query }, _caller, { deadline }) => {
      count += 1;
      if (count % 7 === 0) await new Promise(setImmediate);
      if (count % 50 === 0) return rawResponse(JSON.stringify({ data: { query, large: 'x'.repeat(500_000) } }));
      if (deadline !== undefined && deadline.remaining < 1000) {
        await new Promise((_resolve, reject) => deadline.onStop((reason) => reject(new ApiError('CANCELLED', reason))));
      }
      return rawResponse(JSON.stringify({ data: { query } }));
    },
    // A busy machine must not count as a slow client.
    headersTimeout: 3_600_000,
    receiveTimeout: 3_600_000,
    maxPipelinedRequests: 20,
    graphiql: true,
  });
}

interface Counts {
  exchanges: number;
  answered: number;
  /** By code. */
  readonly refused: Record<string, number>;
  /** Answers that are not in our form, or that tell of a defect. */
  readonly wrong: string[];
}

/** Attackers who wait for the rest of a request that they never send: the oldest gives up when they are many, and all do at the end. */
class Waiting {
  readonly #givesUp: (() => void)[] = [];
  #isOver = false;

  async wait(client: RawClient): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#givesUp.push(resolve);
    if (this.#isOver) resolve();
    if (this.#givesUp.length > atOnce / 3) this.#givesUp.shift()?.();
    await Promise.race([client.closed(), promise]);
    client.socket.end();
  }

  end(): void {
    this.#isOver = true;
    for (const giveUp of this.#givesUp.splice(0)) giveUp();
  }
}

async function attack(server: TestServer, { pieces, leave }: HostileExchange, waiting: Waiting): Promise<readonly RawAnswer[]> {
  const client = await connectRaw(server.port);
  for (const piece of pieces) {
    client.socket.write(piece, 'latin1');
    if (pieces.length > 1) await new Promise(setImmediate);
  }
  if (leave === 'waits') {
    // The server ends the connection behind this request or because of it, unless it is taken for the rest of an earlier one.
    client.socket.write('GET /health/live HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
    await waiting.wait(client);
  }
  if (leave === 'half-closes') client.socket.end();
  if (leave === 'destroys') client.socket.destroy();
  if (leave === 'resets') client.socket.resetAndDestroy();
  return client.closed();
}

function countAnswer(answer: RawAnswer, counts: Counts): void {
  if (answer.status === 100) return;
  const isOurs = answer.headers.get('x-request-id') !== null && answer.status !== 500;
  if (!isOurs) counts.wrong.push(`${answer.status} ${JSON.stringify([...answer.headers])} ${answer.body.slice(0, 200)}`);
  else if (answer.status < 300) counts.answered += 1;
  else {
    const code = /"code":"(\w+)"/.exec(answer.body)?.[1] ?? `${answer.status}`;
    counts.refused[code] = (counts.refused[code] ?? 0) + 1;
  }
}

test('hostile HTTP harms nobody else', async (context) => {
  const server = await startTarget();
  context.after(() => server.close());
  const random = new RandomSource(seed);
  const exchanges = Array.from({ length: exchangeCount }, () => makeHostileExchange(random, server.anonKey));
  const counts: Counts = { exchanges: 0, answered: 0, refused: {}, wrong: [] };
  const waiting = new Waiting();
  const attacker = async (): Promise<void> => {
    for (let next = exchanges.pop(); next !== undefined; next = exchanges.pop()) {
      for (const answer of await attack(server, next, waiting)) countAnswer(answer, counts);
      counts.exchanges += 1;
    }
    waiting.end();
  };
  let isOver = false;
  const victim = { sent: 0, answered: 0, wrong: [] as string[] };
  const goodClient = async (): Promise<void> => {
    while (!isOver) {
      const query = `{ good${victim.sent} }`;
      victim.sent += 1;
      const response = await server.post({ body: { query } });
      const body = (await response.json()) as { data?: { query: string } };
      if (response.status === 200 && body.data?.query === query) victim.answered += 1;
      else victim.wrong.push(`${response.status} ${JSON.stringify(body).slice(0, 200)}`);
    }
  };
  const good = goodClient();
  await Promise.all(Array.from({ length: atOnce }, attacker));
  isOver = true;
  await good;
  context.diagnostic(`the seed is ${seed}`);
  context.diagnostic(`attackers: ${JSON.stringify({ ...counts, wrong: counts.wrong.length })}`);
  context.diagnostic(`good client: sent ${victim.sent}, answered ${victim.answered}, wrong ${victim.wrong.length}`);
  assert.deepEqual([counts.exchanges, counts.wrong], [exchangeCount, []]);
  assert.deepEqual([victim.answered, victim.wrong], [victim.sent, []]);
  assert.ok(Object.keys(counts.refused).length > 5, 'the attack reaches many kinds of refusals');
  const metrics = async (): Promise<string> => (await fetch(`${server.url}/metrics`)).text();
  await until(async () => /^rowgraph_requests_in_flight 0$/m.test(await metrics()));
  assert.match(await metrics(), /^rowgraph_defects_total 0$/m);
});
