/** Ways to send many requests: so many at a time, or so many a second. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Exchange, makeAgent, send } from '../send.ts';
import type { Arena } from '../start-arena.ts';
import type { Tally } from '../tally.ts';

export interface Flood {
  readonly headers?: Readonly<Record<string, string>>;
  /** What request number so much says; a string is its body as it is. */
  readonly request: (index: number) => object | string;
  /** Requests at a time, the next of each as soon as it has an answer. */
  readonly atOnce?: number;
  /** Requests a second instead, whatever becomes of them. */
  readonly perSecond?: number;
  /** The client hangs up after so many milliseconds. */
  readonly hangUpAfter?: (index: number) => number;
  readonly each?: (exchange: Exchange, index: number) => void;
}

/** Sends until the signal and counts the outcomes. What is under way then is left. */
export async function flood(arena: Arena, until: AbortSignal, tally: Tally, options: Flood): Promise<void> {
  const agent = makeAgent(2000);
  let index = 0;
  const ask = async (): Promise<void> => {
    const own = index++;
    const request = options.request(own);
    const body = typeof request === 'string' ? request : JSON.stringify(request);
    const delay = options.hangUpAfter?.(own);
    const signal = delay === undefined ? until : AbortSignal.any([until, AbortSignal.timeout(delay)]);
    tally.sent += 1;
    const exchange = await send({ url: arena.url, headers: options.headers ?? arena.anon, body, agent, signal, keep: 5000 });
    tally.count(exchange.outcome);
    options.each?.(exchange, own);
    // A server that is away is not asked in a loop without end.
    if (exchange.outcome === 'closed') await sleep(20);
  };
  if (options.perSecond !== undefined) {
    const under: Promise<void>[] = [];
    for (const began = performance.now(); !until.aborted; await pause(until, 10)) {
      while (index < ((performance.now() - began) / 1000) * options.perSecond) under.push(ask());
    }
    await Promise.all(under);
  } else {
    const worker = async (): Promise<void> => {
      while (!until.aborted) await ask();
    };
    await Promise.all(Array.from({ length: options.atOnce ?? 10 }, worker));
  }
  agent.destroy();
}

/** Resolves after so many milliseconds, or at the signal. */
export async function pause(until: AbortSignal, milliseconds: number): Promise<void> {
  await sleep(milliseconds, undefined, { signal: until }).catch(() => {});
}
