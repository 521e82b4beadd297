/** Reads the answers of subscriptions in tests, each within a bounded time. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { installExtension } from '../../src/extension/install-extension.ts';
import { installLive } from '../../src/extension/install-live.ts';
import type { ExecutionResult, Rowgraph, SubscribeOptions } from '../../src/index.ts';
import type { TestDatabase } from '../support/test-databases.ts';

const longestWait = 15_000;

type Answers = AsyncIterableIterator<ExecutionResult>;

/** The next answer; fails if there is none in time. */
export async function nextAnswer(answers: Answers): Promise<ExecutionResult> {
  const timer = new AbortController();
  const late = sleep(longestWait, undefined, { signal: timer.signal }).then(() => assert.fail('there was no answer in time'));
  late.catch(() => undefined);
  const result = await Promise.race([answers.next(), late]);
  timer.abort();
  assert.equal(result.done ?? false, false, 'the subscription has ended');
  return result.value as ExecutionResult;
}

/** The data of the next answer, which has no errors. */
export async function nextData(answers: Answers): Promise<Readonly<Record<string, unknown>>> {
  const { data, errors } = await nextAnswer(answers);
  assert.equal(errors, undefined, JSON.stringify(errors));
  return data ?? {};
}

/** Reads answers until one is as expected. */
export async function untilAnswer(answers: Answers, expected: unknown): Promise<void> {
  for (;;) {
    const { data, errors } = await nextAnswer(answers);
    const got = errors?.[0]?.extensions.code ?? data;
    if (JSON.stringify(got) === JSON.stringify(expected)) return;
  }
}

/** A subscription whose latest answer is kept, as text. */
export class LastAnswer {
  text = '';
  count = 0;
  readonly ended: Promise<void>;
  readonly #answers: Answers;

  constructor(graph: Rowgraph, query: string, caller: Parameters<Rowgraph['subscribe']>[1], options?: SubscribeOptions) {
    this.#answers = graph.subscribe({ query }, caller, options);
    this.ended = this.#read();
  }

  async stop(): Promise<void> {
    await this.#answers.return?.();
    await this.ended;
  }

  async #read(): Promise<void> {
    for await (const answer of this.#answers) {
      this.text = JSON.stringify(answer);
      this.count += 1;
    }
  }
}

/** Installs the triggers that notify of each change, by the name of the table. */
export async function announceChanges(database: TestDatabase): Promise<void> {
  const client = await database.connect();
  const query = async (text: string): Promise<(string | null)[][]> => {
    const results: unknown = await client.query({ text, rowMode: 'array', types: { getTypeParser: () => String } });
    const last = (Array.isArray(results) ? results.at(-1) : results) as { readonly rows: (string | null)[][] };
    return last.rows;
  };
  await installExtension({ query });
  assert.deepEqual((await installLive({ query }, 'notify')).uncovered, []);
}
