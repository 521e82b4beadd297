import { client, graphql } from './client.ts';

const document = graphql(`
  query First {
    noteCollection(first: 3) { edges { node { id body } } }
  }
`);

export async function firstQuery() {
  return client.request(document);
}
