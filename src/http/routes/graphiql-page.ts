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
  /** The folder of the backend that has the saved operations; null if the browser keeps them. */
  readonly operationFolder: string | null;
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

/** The mark of the page (`graphiql/page/mark.tsx`) for the tab of the browser, on light and dark. */
const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" fill="none" stroke-linecap="round"><style>
.r{stroke:#16262b}.g{stroke:#0b6661}.n{fill:#0b6661}@media(prefers-color-scheme:dark){.r{stroke:#dfe8e8}.g{stroke:#5fd0c3}.n{fill:#5fd0c3}}
</style><path class="r" stroke-width="3.4" d="M3 8h10M3 16h8M3 24h10"/><path class="g" stroke-width="2.2"
d="M13 8c5 0 6 3 8 5.4M11 16h8M13 24c5 0 6-3 8-5.4"/><circle class="n" cx="24" cy="16" r="5.2"/></svg>`;

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
    <title>rowgraph</title>
    <link rel="icon" type="image/svg+xml" href="data:image/svg+xml,${encodeURIComponent(icon)}">
    <link rel="stylesheet" href="${assets}/skeleton.css">
  </head>
  <body>
    <div id="graphiql">
      <div class="skeleton">
        <div class="skeleton-rail"></div>
        <header>rowgraph</header>
        <p class="skeleton-pane" role="status">Loading the editor …</p>
        <div class="skeleton-pane"></div>
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
  /** Where the page saves operations; null leaves them to the browser. */
  readonly operations: SavedOperations | null;
}

/** Operations under names whose parts are folders, `reports/Monthly`. Methods reject with BAD_REQUEST for names that cannot be. */
export interface SavedOperations {
  /** As the page shows it. */
  readonly folder: string;
  readonly list: () => Promise<readonly SavedOperation[]>;
  /** `version`: the one that is replaced; null for a new operation. */
  readonly save: (name: string, change: OperationChange, version: string | null) => Promise<KeptOperation>;
  readonly move: (name: string, to: string, version: string) => Promise<KeptOperation>;
  readonly remove: (name: string, version: string) => Promise<KeptOperation>;
}

export interface OperationChange {
  readonly query: string;
  /** JSON; '' for none. */
  readonly variables: string;
}

export interface SavedOperation extends OperationChange {
  readonly name: string;
  /** Differs after each change. */
  readonly version: string;
}

/** What is there now, null after a removal; or, if somebody else has changed it, what is there instead, and nothing was changed. */
export type KeptOperation = { readonly kept: SavedOperation | null } | { readonly stale: SavedOperation | null };

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
