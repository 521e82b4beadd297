import { Suspense } from 'react';
import { RelayEnvironmentProvider } from 'react-relay';
import { environment } from './environment.js';
import { Sightings } from './sightings.jsx';

export function App() {
  return (
    <RelayEnvironmentProvider environment={environment}>
      <Suspense fallback="Loading …">
        <Sightings />
      </Suspense>
    </RelayEnvironmentProvider>
  );
}
