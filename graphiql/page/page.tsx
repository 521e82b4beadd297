/** The script of the page at `/graphiql`, as browsers run it: the page with the settings that stand in it. */
import 'graphiql/style.css';
import '@graphiql/plugin-explorer/style.css';
import './page.css';
import { createRoot } from 'react-dom/client';
import type { GraphiqlSettings } from '../../src/http/graphiql-page.ts';
import { App } from './app.tsx';

// GraphiQL's editor checks each language in a worker.
self.MonacoEnvironment = {
  getWorker(_id: string, label: string) {
    const language = label === 'graphql' || label === 'json' ? label : 'editor';
    return new Worker(new URL(`${language}.worker.js`, import.meta.url), { type: 'module' });
  },
};

const settings = JSON.parse(document.getElementById('settings')?.textContent ?? '') as GraphiqlSettings;
createRoot(document.getElementById('graphiql')!).render(<App settings={settings} />);
