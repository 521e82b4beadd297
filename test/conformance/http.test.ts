/** Every third query of the vectors, and all their mutations, over HTTP: the key carries the role, the token role and claims. */

import { signKey } from '../../src/auth/sign-key.ts';
import { startServer } from '../../src/http/transport/start-server.ts';
import { createRowgraph } from '../../src/index.ts';
import { createTelemetry } from '../../src/telemetry/create-telemetry.ts';
import type { Answer, OpenEndpoint } from './endpoint.ts';
import { testCases } from './test-cases.ts';

const jwtSecret = 'a-secret-of-tests-with-more-than-32-bytes';
const anonKey = await signKey(jwtSecret, 'anon');
const tokens = new Map<string, Promise<string>>();

function tokenOf(role: string, claims: Readonly<Record<string, unknown>>): Promise<string> {
  const identity = `${role} ${JSON.stringify(claims)}`;
  const token = tokens.get(identity) ?? signKey(jwtSecret, role, undefined, claims);
  tokens.set(identity, token);
  return token;
}

const openServer: OpenEndpoint = async (target, schemas, coercion) => {
  const graph = await createRowgraph({ database: target, schemas, coercion, poolSize: 2 });
  const telemetry = createTelemetry({ level: 'error', destination: { write: () => undefined } });
  const server = await startServer({ graph, jwtSecret, telemetry });
  return {
    send: async (request, role, claims) => {
      const token = await tokenOf(role, claims);
      const headers = { apiKey: anonKey, authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const response = await fetch(`${server.url}/graphql/v1`, { method: 'POST', headers, body: JSON.stringify(request) });
      if (response.status !== 200) throw new Error(`HTTP status ${response.status}: ${await response.text()}`);
      return (await response.json()) as Answer;
    },
    reload: () => graph.reload(),
    close: async () => {
      await server.close();
      await graph.close();
    },
  };
};

testCases('conformance over HTTP', {
  kind: 'postgres',
  openEndpoint: openServer,
  hasAdditions: true,
  isChosen: (_, index) => index % 3 === 0,
});
