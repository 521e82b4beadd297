/**
 * A finished request as spans: the request, and below it its stages (parse, plan, wait for a connection, batch). They never contain values
 * of the request.
 */
import type { OperationTimes, RequestDetails, RequestFinished, SubscriptionEnded } from '../../event-details.ts';
import type { Metric } from '../metrics.ts';
import { randomHex } from '../trace-context.ts';

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

/** The span of a subscription from its first answer to its end, below that of the request which began it, whose trace it has. */
export function encodeSubscription(event: SubscriptionEnded, { trace, operation }: RequestDetails): Span {
  const { code, role, transport, answers, bytes, seconds, requestId } = event;
  const now = performance.now();
  return {
    ...spanOf(
      trace?.traceId ?? randomHex(16),
      randomHex(8),
      trace?.spanId ?? null,
      'subscription',
      kinds.server,
      now - seconds * 1000,
      now,
    ),
    attributes: attributesOf({
      'graphql.operation.name': operation === null ? null : nameOf(operation),
      'graphql.operation.type': 'subscription',
      'error.type': code,
      'rowgraph.role': role,
      'rowgraph.request_id': requestId,
      'rowgraph.transport': transport,
      'rowgraph.answers': answers,
      'rowgraph.answer_bytes': bytes,
    }),
    status: code === 'INTERNAL_ERROR' ? { code: failed, message: code } : {},
  };
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
function nanosOf(milliseconds: number): string {
  return String(BigInt(Math.round((performance.timeOrigin + milliseconds) * 1000)) * 1000n);
}

interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue: string } | { readonly intValue: string } | { readonly doubleValue: number };
}

/** The JSON form of OTLP has whole numbers as strings, because they may have 64 bits. */
export function attributesOf(values: Readonly<Record<string, string | number | null | undefined>>): Attribute[] {
  return Object.entries(values).flatMap(([key, value]): Attribute[] => {
    if (value === null || value === undefined) return [];
    if (typeof value === 'string') return [{ key, value: { stringValue: value } }];
    return [{ key, value: Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value } }];
  });
}

const cumulative = 2;

export function encodeMetrics(reading: readonly Metric[]): object[] {
  const times = { startTimeUnixNano: nanosOf(0), timeUnixNano: nanosOf(performance.now()) };
  return reading.flatMap((metric): object[] => {
    const { name, help: description, type, values } = metric;
    if (type === 'histogram')
      return [{ name, description, histogram: { aggregationTemporality: cumulative, dataPoints: histogramPoints(metric, times) } }];
    const dataPoints = values.map(({ labels, value }) => ({ ...times, attributes: attributesOf(labels), asDouble: value }));
    if (type === 'counter') return [{ name, description, sum: { aggregationTemporality: cumulative, isMonotonic: true, dataPoints } }];
    return type === 'gauge' ? [{ name, description, gauge: { dataPoints } }] : [];
  });
}

/** Combines all values that differ only in their bucket into one point. Prometheus buckets are cumulative, OTLP buckets are not. */
function histogramPoints({ name, values }: Metric, times: object): object[] {
  const groups = Map.groupBy(values, ({ labels: { le: _bound, ...labels } }) => JSON.stringify(labels));
  return [...groups].map(([labels, group]) => {
    const buckets = group.filter(({ metricName }) => metricName === `${name}_bucket`);
    const valueOf = (suffix: string): number => group.find(({ metricName }) => metricName === name + suffix)?.value ?? 0;
    const counts = buckets.map(({ value }, index) => value - (buckets[index - 1]?.value ?? 0));
    return {
      ...times,
      attributes: attributesOf(JSON.parse(labels) as Record<string, string | number>),
      count: String(valueOf('_count')),
      sum: valueOf('_sum'),
      bucketCounts: counts.map(String),
      explicitBounds: buckets.slice(0, -1).map(({ labels: { le } }) => Number(le)),
    };
  });
}
