/** The trace that a request belongs to (https://www.w3.org/TR/trace-context/). A malformed header is ignored. */
import { randomFillSync } from 'node:crypto';
import type { BeginTrace, TraceContext } from '../event-details.ts';

/** Which traces are sampled, as named by `OTEL_TRACES_SAMPLER`. */
export interface Sampler {
  /** Whether the decision of the request's sender is followed, if there is one. */
  readonly isParentBased: boolean;
  /** The proportion of all other traces that is sampled, from 0 to 1. */
  readonly ratio: number;
}

const parentForm = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
/** In characters. The specification requires at least 512 to be propagated. */
const longestState = 512;
const longestParent = 512;

export function createTraceBeginner({ isParentBased, ratio }: Sampler): BeginTrace {
  const isChosen = (traceId: string): boolean => Number.parseInt(traceId.slice(-8), 16) < ratio * 2 ** 32;
  return ({ traceparent, tracestate }): TraceContext => {
    const parent = readParent(traceparent);
    const spanId = randomHex(8);
    if (parent === null) {
      const traceId = randomHex(16);
      return { traceId, spanId, parentSpanId: null, isSampled: isChosen(traceId), state: null };
    }
    const { traceId, parentSpanId, isSampled } = parent;
    const state = typeof tracestate === 'string' && tracestate.length <= longestState ? tracestate : null;
    return { traceId, spanId, parentSpanId, isSampled: isParentBased ? isSampled : isChosen(traceId), state };
  };
}

/** Version 00 ends with the flags; later versions may have more. */
function readParent(header: unknown): { traceId: string; parentSpanId: string; isSampled: boolean } | null {
  if (typeof header !== 'string' || header.length > longestParent) return null;
  const [, traceId, parentSpanId, flags, more] = parentForm.exec(header) ?? [];
  if (traceId === undefined || parentSpanId === undefined || flags === undefined) return null;
  if (more !== undefined && header.startsWith('00')) return null;
  return { traceId, parentSpanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

const pool = Buffer.alloc(4096);
let used = pool.length;

/** Random bytes in hexadecimal; from a pool, because asking the system for a few costs as much as for many. */
export function randomHex(bytes: 8 | 16): string {
  if (used + bytes > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += bytes;
  return pool.toString('hex', used - bytes, used);
}
