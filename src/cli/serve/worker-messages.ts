/**
 * What the primary and its workers say to each other. A worker asks for the metrics of all, and announces that it begins to end. The
 * primary asks each worker for its metrics and whether it is ready. These are messages on the channel of `node:cluster`, recognized by
 * their shape. Every wait is bounded; a missing answer is null. Also says which worker reports for all of them.
 */
import cluster, { type Worker } from 'node:cluster';
import { type Metric, MetricsSum, metric } from '../../telemetry/metrics.ts';

/** Of several workers, only the first one reports what applies to all. */
export const isReporter = cluster.worker === undefined || cluster.worker.id === 1;

/**
 * Whether several sockets can listen at the same port, with the system spreading connections over them (https://nodejs.org/api/net.html).
 */
export const sharesPort = ['linux', 'freebsd', 'aix', 'sunos'].includes(process.platform);

export type Question = 'metrics' | 'ready';

export type Answers = Readonly<Partial<Record<Question, () => Promise<unknown>>>>;

type Message =
  | { readonly question: Question; readonly id: number }
  | { readonly answerTo: number; readonly answer: unknown }
  | { readonly isEnding: true };

/** The other end of a process: absent from one that has no primary. */
interface Channel {
  send?(message: Message, callback: (error: Error | null) => void): boolean;
}

/** How long to wait for an answer, in milliseconds: from a worker, and from the primary, which may have to ask other workers first. */
const patience = { worker: 2_000, primary: 5_000 };

const waiting = new Map<number, (answer: unknown) => void>();
let lastId = 0;

/** The answer; null if none comes in time. */
function ask(channel: Channel, question: Question, milliseconds: number): Promise<unknown> {
  lastId += 1;
  const id = lastId;
  return new Promise((resolve) => {
    const settle = (answer: unknown): void => {
      clearTimeout(timer);
      waiting.delete(id);
      resolve(answer);
    };
    const timer = setTimeout(settle, milliseconds, null);
    waiting.set(id, settle);
    send(channel, { question, id }, () => settle(null));
  });
}

/** A process that dies while it is written to does not answer; its exit follows. */
function send(channel: Channel, message: Message, onFailure: () => void = () => undefined): void {
  if (channel.send === undefined) return onFailure();
  try {
    channel.send(message, (error) => {
      if (error) onFailure();
    });
  } catch {
    onFailure();
  }
}

/** What a process does with messages. */
interface Receiver {
  readonly answers: Answers;
  /** In the primary: the worker begins to end by itself. */
  readonly onEnding?: () => void;
}

function receive(channel: Channel, message: unknown, { answers, onEnding }: Receiver): void {
  if (typeof message !== 'object' || message === null) return;
  const { question, id, answerTo, answer, isEnding } = message as Partial<Record<string, unknown>>;
  if (typeof answerTo === 'number') waiting.get(answerTo)?.(answer);
  else if (typeof id === 'number' && (question === 'metrics' || question === 'ready')) {
    const answering = answers[question]?.() ?? Promise.resolve(null);
    answering.catch(() => null).then((answer) => send(channel, { answerTo: id, answer }));
  } else if (isEnding === true) onEnding?.();
}

/** In the primary: asks a worker. Null as soon as the worker exits. */
export function askWorker(worker: Worker, question: Question): Promise<unknown> {
  return new Promise((resolve) => {
    const onExit = (): void => resolve(null);
    worker.once('exit', onExit);
    void ask(worker, question, patience.worker).then((answer) => {
      worker.off('exit', onExit);
      resolve(answer);
    });
  });
}

/** In the primary: answers a worker's questions, and receives its answers and announcements. */
export function listenToWorker(worker: Worker, receiver: Required<Receiver>): void {
  worker.on('message', (message: unknown) => receive(worker, message, receiver));
}

/** In a worker: tells the primary that this process has begun to end. Does nothing in other processes. */
export function announceEnd(): void {
  if (cluster.isWorker) send(process, { isEnding: true });
}

export function askPrimary(question: Question): Promise<unknown> {
  return ask(process, question, patience.primary);
}

/**
 * In a worker: answers the primary's questions, and receives its answers. Does nothing in other processes.
 */
export function listenToPrimary(answers: Answers): void {
  if (!cluster.isWorker) return;
  process.on('message', (message: unknown) => receive(process, message, { answers }));
}

/** The primary's number among the processes; workers are numbered from 1. */
const primary = 0;

export class WorkerMetrics {
  readonly #sum = new MetricsSum();
  readonly #liveWorkers: () => readonly Worker[];
  #exits = 0;
  #collecting: Promise<string> | null = null;

  constructor(liveWorkers: () => readonly Worker[]) {
    this.#liveWorkers = liveWorkers;
  }

  noteExit(worker: Worker): void {
    this.#exits += 1;
    this.#sum.end(worker.id);
  }

  /** The text of `/metrics`; concurrent requests share one. A worker that does not answer counts with its last metrics. */
  write(): Promise<string> {
    this.#collecting ??= this.#collect().finally(() => {
      this.#collecting = null;
    });
    return this.#collecting;
  }

  async #collect(): Promise<string> {
    const workers = this.#liveWorkers();
    await Promise.all(
      workers.map(async (worker) => {
        const reading = (await askWorker(worker, 'metrics')) as readonly Metric[] | null;
        // If it has died, its last metrics have been added already.
        if (!worker.isDead()) this.#sum.note(worker.id, reading);
      }),
    );
    this.#sum.note(primary, this.#readOwn());
    return this.#sum.write();
  }

  #readOwn(): Metric[] {
    return [
      metric('gauge', 'rowgraph_workers', 'Processes that share the port.', this.#liveWorkers().length),
      metric('counter', 'rowgraph_worker_exits_total', 'Processes that exited unexpectedly.', this.#exits),
    ];
  }
}
