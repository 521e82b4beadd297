/**
 * Returns to the system what V8 keeps after a peak. V8 keeps every page that its heap has needed until 100 s pass without a collection of the
 * old generation: under load, forever. A collection that begins while V8 has the flag `--optimize-for-size` returns them, but such collections
 * make a busy server up to 9 % slower. So one is asked for when there is something to return.
 *
 * Relies on a flag of V8, which takes effect while it runs (`test/contracts/node.test.ts`).
 */
import { constants, type NodeGCPerformanceDetail, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';

/** In milliseconds. */
const interval = 1000;
/** How many times in a row the same pages are found unused before they are returned: a heap that oscillates needs them again. */
const patience = 10;
/** How much makes a collection worthwhile, in bytes. */
const worthwhile = 64 * 1024 * 1024;

/** Starts to look, once a second, whether V8 keeps pages that it does not need. Does not keep the process alive. */
export function returnPages(): void {
  const unused = new UnusedMemory();
  let isAwaiting = false;
  const collections = new PerformanceObserver((list) => {
    if (!list.getEntries().some(isMajor)) return;
    setFlagsFromString('--no-optimize-for-size');
    collections.disconnect();
    isAwaiting = false;
    unused.forget();
  });
  const look = (): void => {
    // Each `observe` would count as another observer, of which `disconnect` removes one.
    if (isAwaiting) return;
    const { rss, heapTotal, external } = process.memoryUsage();
    if (!unused.isWorthReturning(rss - heapTotal - external)) return;
    isAwaiting = true;
    setFlagsFromString('--optimize-for-size');
    collections.observe({ type: 'gc' });
  };
  setInterval(look, interval).unref();
}

/** Decides when a collection would return memory. */
export class UnusedMemory {
  /** What the process has beside what it uses, in bytes, if V8 keeps nothing: the program itself, and what the C library keeps. */
  #rest = Infinity;
  #times = 0;

  /** `unused`: what the process has from the system and does not use, in bytes. */
  isWorthReturning(unused: number): boolean {
    this.#rest = Math.min(this.#rest, unused);
    this.#times = unused - this.#rest < worthwhile ? 0 : this.#times + 1;
    return this.#times === patience;
  }

  /** A collection has returned what it could: what is unused now belongs to the rest. */
  forget(): void {
    this.#rest = Infinity;
    this.#times = 0;
  }
}

function isMajor(entry: PerformanceEntry): boolean {
  const { detail } = entry as PerformanceEntry & { readonly detail?: NodeGCPerformanceDetail };
  return detail?.kind === constants.NODE_PERFORMANCE_GC_MAJOR;
}
