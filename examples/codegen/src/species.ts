/** Prints the heaviest species of a status. Node runs this file as it is; what it imports from ./gql is generated. */
import { GraphQLClient } from 'graphql-request';
import { graphql } from './gql/gql.ts';

const client = new GraphQLClient(process.env.GRAPHQL_URL ?? '', { headers: { apiKey: process.env.ANON_KEY ?? '' } });

const heaviest = graphql(`
  query Heaviest($status: ConservationStatus!) {
    speciesCollection(first: 3, filter: { status: { eq: $status } }, orderBy: [{ massG: DescNullsLast }]) {
      edges { node { name massG habitats } }
    }
  }
`);

// A status that does not exist, or a variable that is missing, is an error of tsc.
const { speciesCollection } = await client.request(heaviest, { status: 'VULNERABLE' });
for (const { node } of speciesCollection?.edges ?? []) {
  // A BigFloat is a string, so that no digit is lost.
  const mass: string = node.massG;
  console.log(`${node.name}: ${mass} g, ${node.habitats.join(', ')}`);
}
