/** Renders the page at `/graphiql` with the settings embedded in it. */
import { createRoot } from 'react-dom/client';
import type { GraphiqlSettings } from '../../src/http/routes/graphiql-page.ts';
import { App } from './app.tsx';

// GraphiQL's editor checks each language in a worker.
self.MonacoEnvironment = {
  getWorker(_id: string, label: string) {
    const language = label === 'graphql' || label === 'json' ? label : 'editor';
    return new Worker(new URL(`${language}.worker.js`, import.meta.url), { type: 'module' });
  },
};

/** Replaces the skeleton by the page. */
export function renderPage(): void {
  const settings = JSON.parse(document.getElementById('settings')?.textContent ?? '') as GraphiqlSettings;
  createRoot(document.getElementById('graphiql')!).render(<App settings={settings} />);
}
