/**
 * A finished request as spans: the request, and below it its stages (parse, plan, wait for a connection, batch). In: its event; out: spans
 * in the JSON form of OTLP (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding), with attributes of the semantic conventions
 * for HTTP, GraphQL and databases. They never contain values of the request.
 */
import type { OperationTimes, RequestDetails, RequestFinished } from '../../events.ts';
import { randomHex } from '../trace-context.ts';
import { type Attribute, attributesOf } from './attributes.ts';

export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly traceState?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly Attribute[];
  readonly status: { readonly code?: number; readonly message?: string };
}

const kinds = { internal: 1, server: 2, client: 3 };
const failed = 2;
/** In characters. Names of operations come from clients. */
const longestName = 100;

/** The spans of a request, its own first; none if it is not sampled. */
export function encodeRequest({ status, code, role, bytes, seconds, requestId }: RequestFinished, details: RequestDetails): Span[] {
  const { trace, method, path, started, authenticated, received, operation } = details;
  if (!trace?.isSampled) return [];
  const name = operation === null ? null : nameOf(operation);
  const root = {
    ...spanOf(trace.traceId, trace.spanId, trace.parentSpanId, `${method} ${path}`, kinds.server, started, started + seconds * 1000),
    ...(trace.state !== null && { traceState: trace.state }),
    attributes: attributesOf({
      'http.request.method': method,
      'url.path': path,
      'http.response.status_code': status,
      'http.response.body.size': bytes,
      'graphql.operation.name': name,
      'graphql.operation.type': operation?.kind ?? null,
      'error.type': code,
      'rowgraph.role': role,
      'rowgraph.request_id': requestId,
      'rowgraph.batch_size': details.parts.length > 0 ? details.parts.length : null,
    }),
    status: status >= 500 ? { code: failed, message: code ?? '' } : {},
  };
  const child = (label: string, kind: number, from: number | null, to: number | null, attributes: readonly Attribute[] = []): Span[] =>
    from === null || to === null ? [] : [{ ...spanOf(trace.traceId, randomHex(8), trace.spanId, label, kind, from, to), attributes }];
  const begin = received ?? authenticated;
  const stagesOf = (times: OperationTimes): Span[] => [
    ...child('parse', kinds.internal, begin, times.parsed),
    ...child('plan', kinds.internal, times.parsed, times.prepared),
    ...child('queue', kinds.internal, times.prepared, times.sent),
    ...child('batch', kinds.client, times.sent, times.ended, databaseAttributes(times)),
  ];
  return [root, ...child('receive', kinds.internal, authenticated, received), ...[details, ...details.parts].flatMap(stagesOf)];
}

function databaseAttributes({ operation }: OperationTimes): Attribute[] {
  return attributesOf({
    'db.system.name': 'postgresql',
    'db.operation.batch.size': operation !== null && operation.statements.length > 1 ? operation.statements.length : null,
    'graphql.operation.name': operation === null ? null : nameOf(operation),
  });
}

function nameOf({ name }: { readonly name: string | null }): string | null {
  return name === null ? null : name.slice(0, longestName);
}

/** Times are milliseconds of `performance.now()`. */
function spanOf(traceId: string, spanId: string, parent: string | null, name: string, kind: number, from: number, to: number) {
  return {
    traceId,
    spanId,
    ...(parent !== null && { parentSpanId: parent }),
    name,
    kind,
    startTimeUnixNano: nanosOf(from),
    endTimeUnixNano: nanosOf(Math.max(from, to)),
    status: {},
  };
}

/** Nanoseconds since 1970, as text: they have more digits than a number can hold exactly. */
export function nanosOf(milliseconds: number): string {
  return String(BigInt(Math.round((performance.timeOrigin + milliseconds) * 1000)) * 1000n);
}
