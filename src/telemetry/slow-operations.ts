/** Operations that took long, as lines of the log. In: the event of a request; out: what to log of each. Values that came with the request are left out unless they are asked for. */
import { createHash } from 'node:crypto';
import type { OperationTimes, RequestFinished } from '../events.ts';
import { redactDocument } from './redact-document.ts';

export interface SlowOperationOptions {
  /** How long an operation takes at least. */
  readonly milliseconds: number;
  /** Whether variables and literals are logged. */
  readonly hasValues: boolean;
}

/** In characters. Names come from clients. */
const longestName = 100;

/** The operations of a request that were slow: itself, or those of a batch. */
export function findSlowOperations(
  { seconds, details }: RequestFinished,
  { milliseconds }: SlowOperationOptions,
): readonly OperationTimes[] {
  if (details === null || details === undefined) return [];
  if (details.parts.length === 0) return seconds * 1000 >= milliseconds && details.operation !== null ? [details] : [];
  const begin = details.received ?? details.started;
  return details.parts.filter(({ prepared, ended }) => (ended ?? prepared ?? begin) - begin >= milliseconds);
}

/** The members of the line of a slow operation. */
export function describeSlowOperation(event: RequestFinished, times: OperationTimes, { hasValues }: SlowOperationOptions): object {
  const { operation } = times;
  const { requestId, role, code, seconds, details } = event;
  const begin = details?.received ?? details?.authenticated ?? details?.started ?? 0;
  const isPart = times !== details;
  return {
    requestId,
    ...(details?.trace && { traceId: details.trace.traceId }),
    operation: operation?.name?.slice(0, longestName) ?? null,
    kind: operation?.kind ?? null,
    role,
    code: isPart ? null : code,
    milliseconds: rounded(isPart ? (times.ended ?? times.prepared ?? begin) - begin : seconds * 1000),
    stages: {
      plan: between(begin, times.prepared),
      queue: between(times.prepared, times.sent),
      database: between(times.sent, times.ended),
    },
    ...(operation !== null && {
      cost: operation.readCost(),
      documentHash: hashOf(operation.document),
      sqlHash: hashOf(operation.statements.join(';\n')),
      document: hasValues ? operation.document : redactDocument(operation.document),
      ...(hasValues && { variables: operation.variables }),
    }),
  };
}

/** The hash by which persisted queries name documents. */
function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function between(from: number | null, to: number | null): number | null {
  return from === null || to === null ? null : rounded(to - from);
}

function rounded(milliseconds: number): number {
  return Math.round(milliseconds * 100) / 100;
}
