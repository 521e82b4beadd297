/** Persisted queries and trusted documents with Apollo Client and urql: what they send, and what comes of it. Each check has a server of its own. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { Client, fetchExchange } from '@urql/core';
import { persistedExchange } from '@urql/exchange-persisted';
import { signKey } from '../../../src/auth/sign-key.ts';
import { startServer } from '../../../src/http/transport/start-server.ts';
import { createTelemetry } from '../../../src/telemetry/create-telemetry.ts';
import { startPgliteGraph } from '../../support/pglite-graph.ts';

const secret = 'a secret that has more than 32 characters';
const apiKey = await signKey(secret, 'anon');
const query = 'query Notes($id: Int!) { noteCollection(filter: {id: {eq: $id}}) { edges { node { text } } } }';
const mutation = 'mutation Add($text: String!) { insertIntonoteCollection(objects: [{text: $text}]) { affectedCount } }';
const sha256 = (text) => createHash('sha256').update(text).digest('hex');
const database = await startPgliteGraph(`
  create table note (id int primary key generated always as identity, text text);
  insert into note (text) values ('one'), ('two')`);

/** What a program asks with a client; each answer is the JSON of its data. */
const clients = {
  'Apollo Client': ({ fetch, url, byGet }) => {
    const link = new PersistedQueryLink({ sha256, useGETForHashedQueries: byGet });
    const client = new ApolloClient({
      link: link.concat(new HttpLink({ uri: url, fetch, headers: { apiKey } })),
      cache: new InMemoryCache(),
    });
    return {
      ask: async (id) => JSON.stringify(await client.query({ query: gql(query), variables: { id }, fetchPolicy: 'no-cache' })),
      add: async (text) => JSON.stringify(await client.mutate({ mutation: gql(mutation), variables: { text }, fetchPolicy: 'no-cache' })),
    };
  },
  urql: ({ fetch, url, byGet }) => {
    const persisted = persistedExchange({ preferGetForPersistedQueries: byGet, enableForMutation: true });
    // Left alone, it sends queries without a hash by GET as well.
    const options = { url, fetch, exchanges: [persisted, fetchExchange], fetchOptions: { headers: { apiKey } }, preferGetMethod: byGet };
    const client = new Client(options);
    return {
      ask: async (id) => JSON.stringify((await client.query(query, { id }).toPromise()).data),
      add: async (text) => JSON.stringify((await client.mutation(mutation, { text }).toPromise()).data),
    };
  },
};

/** Runs a check against a server with these options, and programs that use it, whose requests are written down. */
async function withServer(connect, byGet, options, check) {
  const telemetry = createTelemetry({ level: 'silent' });
  const server = await startServer({ graph: database.graph, jwtSecret: secret, telemetry, ...options });
  const documents = [];
  let sent = [];
  const fetch = (url, init) => {
    const parameters = Object.fromEntries(new URL(String(url)).searchParams);
    const body =
      typeof init?.body === 'string' ? JSON.parse(init.body) : { ...parameters, extensions: JSON.parse(parameters.extensions ?? '{}') };
    const named = body.extensions?.persistedQuery?.sha256Hash === undefined ? [] : ['hash'];
    if (typeof body.query === 'string') documents.push(body.query);
    sent.push([init?.method ?? 'GET', ...named, ...(typeof body.query === 'string' ? ['document'] : [])].join(' '));
    return globalThis.fetch(url, init);
  };
  /** What has been sent since the last call. */
  const takeSent = () => {
    const taken = sent;
    sent = [];
    return taken;
  };
  try {
    await check({ program: () => connect({ fetch, url: `${server.url}/graphql/v1`, byGet }), takeSent, documents });
  } finally {
    await server.close();
  }
}

for (const connect of Object.values(clients)) {
  for (const byGet of [false, true]) {
    const hashed = byGet ? 'GET hash' : 'POST hash';

    // A document is sent once; then its hash is enough, for other programs, too.
    await withServer(connect, byGet, { persistedQueries: 1_000_000 }, async ({ program, takeSent }) => {
      const first = program();
      assert.match(await first.ask(1), /"text":"one"/);
      const [asked, answered, ...more] = takeSent();
      assert.deepEqual([asked, more], [hashed, []]);
      assert.match(answered ?? '', /^(GET|POST) hash document$/);
      assert.match(await first.ask(2), /"text":"two"/);
      assert.match(await program().ask(2), /"text":"two"/);
      assert.deepEqual(takeSent(), [hashed, hashed]);
      assert.match(await first.add('three'), /"affectedCount":1/);
      assert.match(await first.add('four'), /"affectedCount":1/);
      assert.deepEqual(takeSent(), ['POST hash', 'POST hash document', 'POST hash']);
    });

    // Where the feature is off, they go on without hashes.
    await withServer(connect, byGet, {}, async ({ program, takeSent }) => {
      const first = program();
      assert.match(await first.ask(1), /"text":"one"/);
      assert.match(await first.ask(2), /"text":"two"/);
      const [asked, ...others] = takeSent();
      assert.equal(asked, hashed);
      assert.equal(others.length, 2);
      for (const other of others) assert.match(other, /^(GET|POST) document$/);
    });

    // Of trusted documents, they need send no more than the hash.
    let trustedDocuments;
    await withServer(connect, byGet, { persistedQueries: 1_000_000 }, async ({ program, documents }) => {
      const learning = program();
      await learning.ask(1);
      await learning.add('five');
      trustedDocuments = Object.fromEntries(documents.map((text) => [sha256(text), text]));
    });
    await withServer(connect, byGet, { trustedDocuments, untrustedRoles: [] }, async ({ program, takeSent }) => {
      const trusting = program();
      assert.match(await trusting.ask(1), /"text":"one"/);
      assert.match(await trusting.add('six'), /"affectedCount":1/);
      assert.deepEqual(takeSent(), [hashed, 'POST hash']);
    });
  }
}
await database.stop();
