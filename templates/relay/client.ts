/** Relay's environment. It sends the key, and the token of whoever is signed in. */
import { Environment, type FetchFunction, Network, RecordSource, Store } from 'relay-runtime';
import { fetchAsUser, url } from './session.ts';

const fetchFunction: FetchFunction = async ({ text }, variables) => {
  const body = JSON.stringify({ query: text, variables });
  const response = await fetchAsUser(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  return response.json();
};

export const environment = new Environment({
  network: Network.create(fetchFunction),
  store: new Store(new RecordSource()),
  // The identifier of a row. Rows without a key have none, and belong to what they were read through.
  getDataID: ({ nodeId }) => nodeId,
});
