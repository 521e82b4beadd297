/** Metrics, for the operator of the server. In: the telemetry, and the key if one is required; out: the route `/metrics`. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '../errors/api-error.ts';
import type { Telemetry } from '../telemetry/create-telemetry.ts';
import type { Route } from './route.ts';

/** Milliseconds from one rendering of the metrics to the next: each takes 2 ms, whoever asks for it. */
const renderInterval = 50;

/** The route. With a key, requests need the header `Authorization: Bearer KEY`. */
export function createMetricsRoute(
  { writeMetrics, metricsContentType }: Pick<Telemetry, 'writeMetrics' | 'metricsContentType'>,
  key: string | null,
): readonly [path: string, route: Route] {
  const expected = key === null ? null : digest(`Bearer ${key}`);
  let next: Promise<string> | null = null;
  let renderAt = 0;
  const render = async (): Promise<string> => {
    await sleep(Math.max(0, renderAt - performance.now()));
    next = null;
    renderAt = performance.now() + renderInterval;
    return writeMetrics();
  };
  const serve: Route = async ({ headers }) => {
    if (expected !== null && !timingSafeEqual(digest(headers.authorization ?? ''), expected))
      throw new ApiError('UNAUTHENTICATED', 'The metrics need a key. Send it in the header "Authorization: Bearer KEY".');
    next ??= render();
    return { status: 200, headers: ['content-type', metricsContentType, 'cache-control', 'no-store'], body: await next };
  };
  return ['/metrics', serve];
}

/** Digests have equal lengths, as a constant-time comparison requires, whatever was sent. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
