/** A receiver of OTLP over HTTP for tests, which records what it receives. It can refuse, hang, or be down. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';

export interface RecordedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly traceState?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
  readonly status: { readonly code?: number };
}

export interface RecordedMetric {
  readonly name: string;
  readonly sum?: { readonly dataPoints: readonly { readonly asDouble: number }[] };
  readonly gauge?: { readonly dataPoints: readonly { readonly asDouble: number }[] };
  readonly histogram?: {
    readonly dataPoints: readonly {
      readonly count: string;
      readonly sum: number;
      readonly bucketCounts: readonly string[];
      readonly explicitBounds: readonly number[];
    }[];
  };
}

export interface OtlpReceiver {
  readonly url: string;
  readonly requests: { readonly path: string; readonly headers: IncomingMessage['headers'] }[];
  readonly spans: RecordedSpan[];
  /** The latest metric of each name. */
  readonly metrics: Map<string, RecordedMetric>;
  /** The attributes of the process that last sent something, as text. */
  resource: string;
  /** The status that it answers with from now on; with `hang` it never answers. */
  behaviour: number | 'hang';
  stop(): Promise<void>;
}

/** Starts it on a free port of loopback. */
export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const server = createServer((request, response) => void receive(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const receiver: OtlpReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: [],
    spans: [],
    metrics: new Map(),
    resource: '',
    behaviour: 200,
    stop: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const bytes = Buffer.concat(await request.toArray().catch(() => []));
    receiver.requests.push({ path: request.url ?? '', headers: request.headers });
    if (receiver.behaviour === 'hang') return;
    if (receiver.behaviour === 200) record(receiver, request.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes);
    response.writeHead(receiver.behaviour, { 'content-type': 'application/json' }).end('{}');
  };
  return receiver;
}

function record(receiver: OtlpReceiver, bytes: Buffer): void {
  const { resourceSpans = [], resourceMetrics = [] } = JSON.parse(bytes.toString());
  for (const { resource, scopeSpans } of resourceSpans) {
    receiver.resource = JSON.stringify(resource);
    for (const { spans } of scopeSpans) receiver.spans.push(...spans);
  }
  for (const { resource, scopeMetrics } of resourceMetrics) {
    receiver.resource = JSON.stringify(resource);
    for (const { metrics } of scopeMetrics) for (const metric of metrics) receiver.metrics.set(metric.name, metric);
  }
}
