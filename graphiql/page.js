/** The script of the GraphiQL page, as browsers run it: GraphiQL with the settings that stand in the page. */
import 'graphiql/style.css';
import './page.css';
import { GraphiQL } from 'graphiql';
import { createElement } from 'react';
import { createRoot } from 'react-dom/client';
import { createFetcher, defaultHeaders } from './fetcher.ts';

// GraphiQL's editor checks each language in a worker.
globalThis.MonacoEnvironment = {
  getWorker(_id, label) {
    const language = label === 'graphql' || label === 'json' ? label : 'editor';
    return new Worker(new URL(`${language}.worker.js`, import.meta.url), { type: 'module' });
  },
};

const defaultQuery = `# Ctrl-Space lists what you can write here,
# Ctrl-Enter runs the operation.
# The apiKey header below determines the role of the request.

query {
  __typename
}
`;

const settings = JSON.parse(document.getElementById('settings').textContent);
createRoot(document.getElementById('graphiql')).render(
  createElement(GraphiQL, {
    fetcher: createFetcher(settings),
    defaultQuery,
    defaultHeaders: defaultHeaders(settings),
    defaultEditorToolsVisibility: 'headers',
  }),
);
