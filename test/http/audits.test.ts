/** The audits of the npm package graphql-http, which hold a server against the GraphQL over HTTP specification. Prints their table. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { serverAudits } from 'graphql-http';
import { signKey } from '../../src/auth/sign-key.ts';
import { type RunningServer, startServer } from '../../src/http/transport/start-server.ts';
import { createTelemetry } from '../../src/telemetry/create-telemetry.ts';
import { startTestGraph, type TestGraph } from '../support/test-graph.ts';
import { secret } from './start-test-server.ts';

/** Audits that fail, and why that is right. */
const reasons: Readonly<Record<string, string>> = {};

let database: TestGraph;
let server: RunningServer;
let apiKey: string;
before(async () => {
  database = await startTestGraph(`
    create table note (id int primary key, body text);
    comment on schema public is '@graphql({"introspection": true})'`);
  server = await startServer({ graph: database.graph, jwtSecret: secret, telemetry: createTelemetry({ level: 'silent' }) });
  apiKey = await signKey(secret, 'anon');
});
after(async () => {
  await server.close();
  await database.stop();
});

test('all audits of graphql-http are passed, or fail for a reason', async (context) => {
  const fetchWithKey: typeof fetch = (url, { headers, ...init } = {}) => fetch(url, { ...init, headers: { ...headers, apiKey } });
  const audits = serverAudits({ url: `${server.url}/graphql/v1`, fetchFn: fetchWithKey });
  const results = await Promise.all(audits.map(({ fn }) => fn()));
  for (const result of results) {
    const why = result.status === 'ok' ? '' : `: ${reasons[result.id] ?? result.reason}`;
    context.diagnostic(`${result.status.padEnd(6)} ${result.id} ${result.name}${why}`);
  }
  const failed = results.filter(({ status }) => status !== 'ok').map(({ id }) => id);
  assert.deepEqual(failed.sort(), Object.keys(reasons).sort());
  assert.equal(results.length, 61);
});
