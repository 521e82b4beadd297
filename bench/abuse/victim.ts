/**
 * An ordinary user in a process of its own: reads and small writes at a fixed rate, each sent when it is due, whatever happened to earlier
 * ones. In: a job on standard input; out: a line of JSON with what it saw, for each line of input and at the end of the input.
 */
import { createInterface } from 'node:readline';
import { makeAgent, send } from './send.ts';

export interface VictimJob {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly subject: string;
  readonly requestsPerSecond: number;
}

/** What the victim has seen since the last report. Latencies are in milliseconds, from when a request was due. */
export interface VictimReport {
  readonly sent: number;
  readonly ok: number;
  readonly p50: number;
  readonly p99: number;
  readonly most: number;
  /** Answers that were not `ok`, by outcome. */
  readonly others: Readonly<Record<string, number>>;
  /** Answers to something other than what was asked. */
  readonly wrong: number;
}

interface Asked {
  readonly query: string;
  readonly variables: Record<string, unknown>;
  isRight(data: unknown, subject: string): boolean;
}

const asText = (data: unknown): string => JSON.stringify(data);
/** What it asks, in turn: one row by key, a page with a relation, its own rows, and an insert. */
const makers: readonly ((id: number) => Asked)[] = [
  (id) => ({
    query: 'query ($id: Int!) { accountByPk(id: $id) { id email blogCollection(first: 3) { edges { node { name } } } } }',
    variables: { id },
    isRight: (data) => asText(data).includes(`"email":"user${id}@`),
  }),
  (id) => ({
    query: 'query ($id: Int!) { blogCollection(filter: { ownerId: { eq: $id } }, first: 5) { edges { node { ownerId name } } } }',
    variables: { id },
    isRight: (data) => asText(data).split(`"ownerId":${id},`).length === 6,
  }),
  () => ({
    query: '{ diaryEntryCollection(first: 5, orderBy: [{ id: DescNullsLast }]) { edges { node { owner } } } }',
    variables: {},
    isRight: (data, subject) => asText(data).replaceAll(`{"node":{"owner":"${subject}"}}`, '').replaceAll(',', '').endsWith('[]}}'),
  }),
  (id) => ({
    query:
      'mutation ($body: String!) { insertIntoDiaryEntryCollection(objects: [{ body: $body }]) { affectedCount records { body owner } } }',
    variables: { body: `entry ${id}` },
    isRight: (data, subject) => asText(data).includes(`{"body":"entry ${id}","owner":"${subject}"}`),
  }),
];

/** Milliseconds after which nobody waits any more. */
const patience = 35_000;

class Victim {
  readonly #job: VictimJob;
  readonly #agent = makeAgent(1000);
  readonly #began = performance.now();
  #count = 0;
  #underWay = 0;
  #seen: { latencies: number[]; sent: number; ok: number; wrong: number; others: Record<string, number> } = emptyCounts();
  readonly #timer: NodeJS.Timeout;

  constructor(job: VictimJob) {
    this.#job = job;
    this.#timer = setInterval(() => this.#sendDue(), 5);
  }

  #sendDue(): void {
    const gap = 1000 / this.#job.requestsPerSecond;
    for (; this.#began + this.#count * gap <= performance.now(); this.#count++) void this.#ask(this.#began + this.#count * gap);
  }

  async #ask(due: number): Promise<void> {
    const { url, headers, subject } = this.#job;
    const id = ((this.#count * 7919) % 1999) + 1;
    const asked = makers[this.#count % makers.length]!(id);
    this.#seen.sent += 1;
    this.#underWay += 1;
    const body = JSON.stringify({ query: asked.query, variables: asked.variables });
    const { outcome, body: answer } = await send({ url, headers, body, agent: this.#agent, from: '127.0.0.2', patience });
    this.#underWay -= 1;
    this.#seen.latencies.push(performance.now() - due);
    if (outcome !== 'ok') this.#note(asked.query.startsWith('mutation') ? `${outcome} of a write` : outcome);
    else if (asked.isRight((JSON.parse(answer) as { data: unknown }).data, subject)) this.#seen.ok += 1;
    else this.#seen.wrong += 1;
  }

  #note(outcome: string): void {
    this.#seen.others[outcome] = (this.#seen.others[outcome] ?? 0) + 1;
  }

  /** What it has seen since the last report. */
  report(): VictimReport {
    const { latencies, ...counts } = this.#seen;
    this.#seen = emptyCounts();
    latencies.sort((one, other) => one - other);
    const quantile = (part: number): number => latencies[Math.min(latencies.length - 1, Math.floor(part * latencies.length))] ?? 0;
    return { ...counts, p50: quantile(0.5), p99: quantile(0.99), most: quantile(1) };
  }

  /** Sends no more, and resolves when everything is answered. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    while (this.#underWay > 0) await new Promise((resolve) => setTimeout(resolve, 20));
    this.#agent.destroy();
  }
}

function emptyCounts(): { latencies: number[]; sent: number; ok: number; wrong: number; others: Record<string, number> } {
  return { latencies: [], sent: 0, ok: 0, wrong: 0, others: {} };
}

if (import.meta.main) {
  let victim: Victim | null = null;
  for await (const line of createInterface({ input: process.stdin })) {
    if (victim === null) victim = new Victim(JSON.parse(line) as VictimJob);
    else process.stdout.write(`${JSON.stringify(victim.report())}\n`);
  }
  await victim?.stop();
  process.stdout.write(`${JSON.stringify(victim?.report())}\n`);
}
