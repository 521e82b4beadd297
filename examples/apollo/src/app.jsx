import { ApolloProvider } from '@apollo/client/react';
import { client } from './client.js';
import { Sightings } from './sightings.jsx';

export function App() {
  return (
    <ApolloProvider client={client}>
      <Sightings />
    </ApolloProvider>
  );
}
