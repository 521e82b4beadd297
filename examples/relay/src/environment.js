import { Environment, Network, RecordSource, Store } from 'relay-runtime';

const { VITE_GRAPHQL_URL: url, VITE_ANON_KEY: apiKey, VITE_TOKEN: token } = import.meta.env;
const headers = { apiKey, authorization: `Bearer ${token}`, 'content-type': 'application/json' };

async function fetchFunction({ text }, variables) {
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ query: text, variables }) });
  return response.json();
}

export const environment = new Environment({
  network: Network.create(fetchFunction),
  store: new Store(new RecordSource()),
  // Rows are told apart by nodeId. With rowgraph's --node-id-field id, this line and schemaConfig in relay.config.json are not needed.
  getDataID: ({ nodeId }) => nodeId,
});
