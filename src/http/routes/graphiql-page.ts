/**
 * The page at `/graphiql`. The page refers to nothing outside its own folder, and its content security policy enforces that. Its first
 * script is `graphiql/page/page.ts`.
 */
import type { Caller, GraphQLRequest } from '../../engine/request.ts';

export interface GraphiqlSettings {
  /** Path of the GraphQL endpoint. */
  readonly endpoint: string;
  /** The key to fill in; null leaves it to the user. */
  readonly anonKey: string | null;
  /** Documents to open at first. */
  readonly operations: readonly string[];
  /** Path prefix of the page's backend in `rowgraph dev`; null if there is none. */
  readonly backend: string | null;
}

/** The editor and its dialogs set inline styles on their elements; the images in its style sheet are `data:` URLs. */
export const graphiqlSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "worker-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "font-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * The HTML; `assets` is the path of the folder with the scripts and the style sheets. The large style sheet is linked after the skeleton of
 * the page, because browsers paint what comes before it without waiting for it.
 */
export function renderGraphiqlPage(assets: string, settings: GraphiqlSettings): string {
  // A `<` could end the script element; JSON can always escape it.
  const data = JSON.stringify(settings).replaceAll('<', '\\u003c');
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>GraphiQL · rowgraph</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="${assets}/skeleton.css">
  </head>
  <body>
    <div id="graphiql">
      <div class="skeleton">
        <header>rowgraph</header>
        <div class="skeleton-panes"><p role="status">Loading the editor …</p><div></div></div>
      </div>
    </div>
    <link rel="stylesheet" href="${assets}/page.css">
    <script type="application/json" id="settings">${data}</script>
    <script type="module" src="${assets}/page.js"></script>
  </body>
</html>
`;
}

/**
 * What the page may do beyond the endpoint in `rowgraph dev`: act as anybody, and see how requests run. Methods that take a role reject
 * with BAD_REQUEST if it is not among the choices.
 */
export interface PageBackend {
  /** The callers that the page may act as. */
  readonly listCallers: () => Promise<CallerChoices>;
  /** A token for a caller. */
  readonly sign: (caller: Caller) => Promise<SignedToken>;
  /** Explains how a request runs, as JSON; `analyze` runs it in a transaction that is rolled back. Rejects as `graph.explain` does. */
  readonly explain: (request: GraphQLRequest, caller: Caller, mode: 'plan' | 'analyze') => Promise<unknown>;
  /** The doctor's findings for a role, as JSON. */
  readonly examine: (role: string) => Promise<unknown>;
  /** Who may do what with which rows: the access of the roles among the choices, as JSON. */
  readonly readAccess: () => Promise<unknown>;
  /** Differs after each change of the schema. */
  readonly readSchemaVersion: () => string;
}

export interface CallerChoices {
  readonly roles: readonly string[];
  /** Possible values of the claim `sub`: rows of the table of users, if there is one. */
  readonly users: readonly { readonly id: string; readonly label: string }[];
}

export interface SignedToken {
  readonly token: string;
  /** Seconds since 1970. */
  readonly expiresAt: number;
}
