/**
 * What the primary and its workers ask each other: a worker for the metrics of all, the primary for those of each and whether it is ready. Messages on the channel
 * of `node:cluster`, told apart from others by their form. Every wait has a bound; who does not answer counts as silent.
 */
import cluster, { type Worker } from 'node:cluster';

/** What may be asked. */
export type Question = 'metrics' | 'ready';

/** How somebody answers. */
export type Answers = Readonly<Partial<Record<Question, () => Promise<unknown>>>>;

type Message = { readonly question: Question; readonly id: number } | { readonly answerTo: number; readonly answer: unknown };

interface Channel {
  send(message: Message, callback: (error: Error | null) => void): unknown;
}

/** How long an answer may take, in milliseconds. One to a worker may wait for others. */
const patience = { worker: 2_000, primary: 5_000 };

const waiting = new Map<number, (answer: unknown) => void>();
let lastId = 0;

/** The answer; null if there is none in time. */
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

/** A process that dies while it is written to is silent; what follows is its exit. */
function send(channel: Channel, message: Message, onFailure: () => void = () => undefined): void {
  try {
    channel.send(message, (error) => {
      if (error) onFailure();
    });
  } catch {
    onFailure();
  }
}

function receive(channel: Channel, message: unknown, answers: Answers): void {
  if (typeof message !== 'object' || message === null || Array.isArray(message)) return;
  const { question, id, answerTo, answer } = message as Partial<Record<string, unknown>>;
  if (typeof answerTo === 'number') waiting.get(answerTo)?.(answer);
  else if (typeof id === 'number' && (question === 'metrics' || question === 'ready')) {
    const answering = answers[question]?.() ?? Promise.resolve(null);
    answering.catch(() => null).then((given) => send(channel, { answerTo: id, answer: given }));
  }
}

/** In the primary: asks a worker. Null as soon as it exits. */
export function askWorker(worker: Worker, question: Question): Promise<unknown> {
  return new Promise((resolve) => {
    const onExit = (): void => resolve(null);
    worker.once('exit', onExit);
    void ask(worker as unknown as Channel, question, patience.worker).then((answer) => {
      worker.off('exit', onExit);
      resolve(answer);
    });
  });
}

/** In the primary: answers a worker, and takes its answers. */
export function listenToWorker(worker: Worker, answers: Answers): void {
  worker.on('message', (message: unknown) => receive(worker as unknown as Channel, message, answers));
}

/** In a worker: asks the primary. */
export function askPrimary(question: Question): Promise<unknown> {
  return ask(process as unknown as Channel, question, patience.primary);
}

/** In a worker: answers the primary, and takes its answers. Does nothing elsewhere. */
export function listenToPrimary(answers: Answers): void {
  if (cluster.isWorker) process.on('message', (message: unknown) => receive(process as unknown as Channel, message, answers));
}
