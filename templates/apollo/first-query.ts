import { client } from './client.ts';
import { graphql } from './gql/gql.ts';

const query = graphql(`
  query First {
    noteCollection(first: 3) { edges { node { id body } } }
  }
`);

export async function firstQuery() {
  const { data } = await client.query({ query });
  return data;
}
