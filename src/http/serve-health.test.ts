import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { test } from 'node:test';
import { ApiError } from '../errors.ts';
import { createTelemetry } from './create-telemetry.ts';
import { createHealthRoutes } from './serve-health.ts';

test('a database that does not answer makes ready say no after a while, to all who ask, with one look at it', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  let pings = 0;
  const ping = (): Promise<void> => {
    pings += 1;
    return new Promise(() => {});
  };
  const routes = new Map(createHealthRoutes({ ping }, createTelemetry({ level: 'silent' }), () => false));
  const request = {} as IncomingMessage;
  const asked = Array.from({ length: 50 }, async () => routes.get('/health/ready')?.(request));
  const refused = Promise.all(
    asked.map((answer) => assert.rejects(answer, (error) => error instanceof ApiError && error.code === 'DATABASE_UNAVAILABLE')),
  );
  context.mock.timers.tick(5000);
  await refused;
  assert.equal(pings, 1);
});
