import { client } from './client.ts';
import { graphql } from './gql/gql.ts';

const document = graphql(`
  query First {
    noteCollection(first: 3) { edges { node { id body } } }
  }
`);

export async function firstQuery() {
  const { data, error } = await client.query(document, {}).toPromise();
  if (error) throw error;
  return data;
}
