/** Live queries with graphql-ws, graphql-sse, `EventSource`, urql and Apollo, each over what it takes by itself. */
import assert from 'node:assert/strict';
import { ApolloClient, ApolloLink, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { Client, fetchExchange, subscriptionExchange } from '@urql/core';
import { EventSource } from 'eventsource';
import { OperationTypeNode } from 'graphql';
import { createClient as createEventClient } from 'graphql-sse';
import { createClient } from 'graphql-ws';
import { headers, url } from './settings.mjs';

const { apiKey } = headers;
const getToken = async () => null;
const query = 'subscription Third { noteByPk(id: 3) { nodeId body } }';

const update = 'mutation ($body: String!) { updateNoteCollection(filter: { id: { eq: 3 } }, set: { body: $body }) { affectedCount } }';
const write = (body) => fetch(url, { method: 'POST', headers, body: JSON.stringify({ query: update, variables: { body } }) });

let count = 0;
/** Changes the row after the first answer, and waits for one that shows the change. `subscribe` returns what ends the subscription. */
async function follow(name, subscribe) {
  count += 1;
  const wanted = `${name} ${count}`;
  const seen = Promise.withResolvers();
  let isFirst = true;
  const end = await subscribe(async (answer) => {
    assert.equal(answer.error ?? answer.errors, undefined, name);
    if (isFirst) await write(wanted);
    isFirst = false;
    if (answer.data.noteByPk.body === wanted) seen.resolve();
  });
  await seen.promise;
  end();
}

const sockets = createClient({
  url: url.replace(/^http/, 'ws'),
  // Asked for each connection: also for the next one when a token has expired, with which the server closes the one before (4403).
  connectionParams: async () => {
    const token = await getToken();
    return token === null ? { apiKey } : { apiKey, authorization: `Bearer ${token}` };
  },
  retryAttempts: Number.POSITIVE_INFINITY,
});
await follow('graphql-ws', (onAnswer) => {
  const unsubscribe = sockets.subscribe({ query }, { next: onAnswer, error: assert.ifError, complete: () => {} });
  return unsubscribe;
});

await follow('EventSource', (onAnswer) => {
  const events = new EventSource(`${url}?${new URLSearchParams({ query, apikey: apiKey })}`);
  events.addEventListener('next', ({ data }) => onAnswer(JSON.parse(data)));
  // It would connect again otherwise.
  events.addEventListener('complete', () => events.close());
  return () => events.close();
});

for (const singleConnection of [false, true]) {
  const streams = createEventClient({ url, headers: { apiKey }, singleConnection });
  await follow('graphql-sse', (onAnswer) => streams.subscribe({ query }, { next: onAnswer, error: assert.ifError, complete: () => {} }));
}

const overFetch = new Client({ url, fetchOptions: { headers: { apiKey } }, fetchSubscriptions: true, exchanges: [fetchExchange] });
const forwardSubscription = ({ query, variables }) => ({
  subscribe: (sink) => ({ unsubscribe: sockets.subscribe({ query, variables }, sink) }),
});
const overSockets = new Client({ url, exchanges: [subscriptionExchange({ forwardSubscription }), fetchExchange] });
for (const client of [overFetch, overSockets]) {
  await follow('urql', (onAnswer) => {
    const { unsubscribe } = client.subscription(query, {}).subscribe(onAnswer);
    return unsubscribe;
  });
}

const http = new HttpLink({ uri: url, headers: { apiKey } });
const isSubscription = ({ operationType }) => operationType === OperationTypeNode.SUBSCRIPTION;
const link = ApolloLink.split(isSubscription, new GraphQLWsLink(sockets), http);
for (const each of [http, link]) {
  const client = new ApolloClient({ link: each, cache: new InMemoryCache() });
  await follow('Apollo', (onAnswer) => {
    const subscription = client.subscribe({ query: gql(query) }).subscribe({ next: onAnswer, error: assert.ifError });
    return () => subscription.unsubscribe();
  });
}
await sockets.dispose();
await write('gamma');
