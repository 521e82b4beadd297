import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { serveSettings } from '../command-settings.ts';
import { readConfiguration } from '../config.ts';
import { openTelemetry } from './start-service.ts';

/** What is written to standard error when telemetry is opened with these variables. */
async function written(context: TestContext, traceDatabase: 'on' | 'off', environment: Readonly<Record<string, string>>): Promise<string> {
  const flags = {
    databaseUrl: 'postgres://localhost/shop',
    jwtSecret: 'a secret that has more than 32 characters',
    logLevel: 'silent',
    traceDatabase,
  };
  const configuration = readConfiguration(serveSettings, { flags, environment: {}, file: undefined });
  const texts: string[] = [];
  const write = context.mock.method(process.stderr, 'write', (text: string) => texts.push(text) > 0);
  try {
    await openTelemetry(configuration, environment).stop(0);
  } finally {
    write.mock.restore();
  }
  return texts.join('');
}

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' };

test('--trace-database without exported traces is warned of', async (context) => {
  const warning =
    /WARNING.*: --trace-database has no effect, because no traces are exported\. Set OTEL_EXPORTER_OTLP_ENDPOINT to export them\n$/;
  assert.match(await written(context, 'on', {}), warning);
  assert.match(await written(context, 'on', { ...endpoint, OTEL_TRACES_EXPORTER: 'none' }), warning);
  assert.match(await written(context, 'on', { ...endpoint, OTEL_SDK_DISABLED: 'true' }), warning);
});

test('nothing is said if traces are exported, or if PostgreSQL is not to see them', async (context) => {
  assert.equal(await written(context, 'on', endpoint), '');
  assert.equal(await written(context, 'on', { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:9/v1/traces' }), '');
  assert.equal(await written(context, 'off', {}), '');
});
