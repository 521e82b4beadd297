/** Slow operations as log lines. Values of the request are left out unless they are asked for. */
import { createHash } from 'node:crypto';
import { Kind, parse, print, visit } from 'graphql';
import type { OperationTimes, RequestFinished, SubscriptionEnded } from '../event-details.ts';

export interface SlowOperationOptions {
  /** Operations that take at least this long are logged. */
  readonly milliseconds: number;
  readonly hasValues: boolean;
}

/** In characters. Names come from clients. */
const longestName = 100;

/** The members of the access log line of a request. It contains no header, no query and no body. */
export function describeAccess({ requestId, role, code, status, seconds, bytes, details }: RequestFinished): object {
  const { method, path, address, trace, operation } = details ?? {};
  return {
    requestId,
    ...(trace && { traceId: trace.traceId }),
    address,
    method,
    path,
    status,
    code,
    role,
    operation: operation?.name?.slice(0, longestName) ?? null,
    milliseconds: rounded(seconds * 1000),
    bytes,
  };
}

/** The members of the access log line of a subscription that has ended. */
export function describeSubscription({ requestId, role, code, transport, seconds, answers, bytes, details }: SubscriptionEnded): object {
  const { address, trace, operation } = details ?? {};
  return {
    requestId,
    ...(trace && { traceId: trace.traceId }),
    address,
    transport,
    code,
    role,
    operation: operation?.name?.slice(0, longestName) ?? null,
    seconds: Math.round(seconds * 1000) / 1000,
    answers,
    bytes,
  };
}

/** The slow operations of a request: its own, or those of its batch. */
export function findSlowOperations(
  { seconds, details }: RequestFinished,
  { milliseconds }: SlowOperationOptions,
): readonly OperationTimes[] {
  if (details === null || details === undefined) return [];
  if (details.parts.length === 0) return seconds * 1000 >= milliseconds && details.operation !== null ? [details] : [];
  const begin = details.received ?? details.started;
  return details.parts.filter(({ prepared, ended }) => (ended ?? prepared ?? begin) - begin >= milliseconds);
}

/** The members of a slow operation's log line. */
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

/** The hash by which persisted queries name a document. */
function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function between(from: number | null, to: number | null): number | null {
  return from === null || to === null ? null : rounded(to - from);
}

function rounded(milliseconds: number): number {
  return Math.round(milliseconds * 100) / 100;
}

const pageSizes: ReadonlySet<string> = new Set(['first', 'last', 'offset', 'atMost', 'maxDepth']);
/** In characters. Parsing and printing a longer one would take too long for a log line. */
const longestDocument = 20_000;

/** Null if the document is too long. */
export function redactDocument(text: string): string | null {
  if (text.length > longestDocument) return null;
  const document = visit(parse(text, { noLocation: true }), {
    // Page sizes are kept: the visitor skips them.
    Argument: (node) => (pageSizes.has(node.name.value) && node.value.kind === Kind.INT ? false : undefined),
    StringValue: (node) => (node.value === '' ? undefined : { ...node, value: '', block: false }),
    IntValue: (node) => ({ ...node, value: '0' }),
    FloatValue: (node) => ({ ...node, value: '0.0' }),
  });
  return print(document);
}
