/** Sends many requests: a number at a time, or a number per second. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Exchange, makeAgent, send } from '../send.ts';
import type { Arena } from '../start-arena.ts';
import type { Tally } from '../tally.ts';

export interface Flood {
  readonly headers?: Readonly<Record<string, string>>;
  /** The request with this number; a string is sent as the body unchanged. */
  readonly request: (index: number) => object | string;
  /** How many requests run at a time; each is followed by the next as soon as it has an answer. */
  readonly atOnce?: number;
  /** Instead, how many requests to send per second, whatever happens to earlier ones. */
  readonly perSecond?: number;
  /** The client's address, on loopback. */
  readonly from?: string;
  /** The client hangs up after this many milliseconds. */
  readonly hangUpAfter?: (index: number) => number;
  readonly each?: (exchange: Exchange, index: number) => void;
}

/** Sends until the signal and counts the outcomes. Requests then under way are abandoned. */
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
    const { headers = arena.anon, from } = options;
    const exchange = await send({ url: arena.url, headers, body, agent, signal, keep: 5000, ...(from !== undefined && { from }) });
    tally.count(exchange.outcome);
    options.each?.(exchange, own);
    // Pause, so that a server that is down is not asked in a busy loop.
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

/** Resolves after this many milliseconds, or at the signal. */
export async function pause(until: AbortSignal, milliseconds: number): Promise<void> {
  await sleep(milliseconds, undefined, { signal: until }).catch(() => {});
}
