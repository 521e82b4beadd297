/**
 * The page of GraphiQL and the script that starts it. In: where the endpoint is and the key to fill in; out: text. The page refers to
 * nothing outside its own folder, and its content security policy enforces that.
 */

export interface GraphiqlSettings {
  /** Path of the GraphQL endpoint. */
  readonly endpoint: string;
  /** The key to fill in; null leaves it to the user. */
  readonly anonKey: string | null;
}

/** The editor and its dialogs set inline styles on their elements; its fonts and images are `data:` URLs in its style sheet. */
export const graphiqlSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  'font-src data:',
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The HTML; `assets` is the path of the folder with the scripts and the style sheet. */
export function renderGraphiqlPage(assets: string, settings: GraphiqlSettings): string {
  // A `<` could end the script element; JSON can always escape it.
  const data = JSON.stringify(settings).replaceAll('<', '\\u003c');
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>GraphiQL</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="${assets}/graphiql.css">
    <link rel="stylesheet" href="${assets}/page.css">
  </head>
  <body>
    <div id="graphiql"></div>
    <script type="application/json" id="settings">${data}</script>
    <script src="${assets}/react.js"></script>
    <script src="${assets}/react-dom.js"></script>
    <script src="${assets}/graphiql.js"></script>
    <script src="${assets}/page.js"></script>
  </body>
</html>
`;
}

export const graphiqlPageStyle = 'html, body, #graphiql { height: 100%; margin: 0; }\n';

/**
 * GraphiQL restores tabs, but not their headers, after a reload. So the key is added if a tab has none; header names are compared without regard to
 * case, because a browser would send `apiKey` and `apikey` as one header with two keys in it.
 */
export const graphiqlPageScript = `'use strict';
const settings = JSON.parse(document.getElementById('settings').textContent);
const key = settings.anonKey === null ? {} : { apiKey: settings.anonKey };

async function fetcher(request, options) {
  const headers = new Headers(key);
  for (const [name, value] of Object.entries((options && options.headers) || {})) headers.set(name, value);
  headers.set('content-type', 'application/json');
  headers.set('accept', 'application/graphql-response+json, application/json;q=0.9');
  const response = await fetch(settings.endpoint, { method: 'POST', headers, body: JSON.stringify(request) });
  return response.json();
}

const defaultQuery = \`# Ctrl-Space lists what you can write here,
# Ctrl-Enter runs the operation.
# The apiKey header below determines the role of the request.

query {
  __typename
}
\`;

const defaultHeaders = JSON.stringify(settings.anonKey === null ? { apiKey: '' } : key, null, 2);
ReactDOM.createRoot(document.getElementById('graphiql')).render(
  React.createElement(GraphiQL, { fetcher, defaultQuery, defaultHeaders, defaultEditorToolsVisibility: 'headers' }),
);
`;
