/** Metrics, for the operator of the server. In: the telemetry, and the key if one is required; out: the route `/metrics`. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { ApiError } from '../errors.ts';
import type { Telemetry } from '../telemetry/create-telemetry.ts';
import type { Route } from './route.ts';

/** The route. With a key, requests need the header `Authorization: Bearer KEY`. */
export function createMetricsRoute(
  { writeMetrics, metricsContentType }: Pick<Telemetry, 'writeMetrics' | 'metricsContentType'>,
  key: string | null,
): readonly [path: string, route: Route] {
  const expected = key === null ? null : digest(`Bearer ${key}`);
  let scrape: Promise<string> | null = null;
  const serve: Route = async ({ headers }) => {
    if (expected !== null && !timingSafeEqual(digest(headers.authorization ?? ''), expected))
      throw new ApiError('UNAUTHENTICATED', 'The metrics need a key. Send it in the header "Authorization: Bearer KEY".');
    // Rendered once per turn of the event loop for all pending requests, because it takes 2 ms.
    scrape ??= new Promise((resolve) => setImmediate(resolve)).then(() => {
      scrape = null;
      return writeMetrics();
    });
    return { status: 200, headers: ['content-type', metricsContentType, 'cache-control', 'no-store'], body: await scrape };
  };
  return ['/metrics', serve];
}

/** Digests have equal lengths, as a constant-time comparison requires, whatever was sent. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
