/** The order of the pages: what a newcomer needs first, what contributors need last. Each page of docs/ is in it, which a test holds. */
import { readFileSync } from 'node:fs';

const root = new URL('../', import.meta.url);

/** The pages of each part, as files of the repository. */
export const parts: Readonly<Record<string, readonly string[]>> = {
  'Start here': [
    'docs/tour.md',
    'docs/start.md',
    'docs/graphiql.md',
    'docs/features.md',
    'docs/from-supabase.md',
    'docs/from-postgrest.md',
    'docs/from-pg_graphql.md',
    'docs/from-other-servers.md',
    'examples/README.md',
  ],
  'The API': [
    'docs/api.md',
    'docs/api/types.md',
    'docs/api/collections.md',
    'docs/api/filters.md',
    'docs/api/order.md',
    'docs/api/pagination.md',
    'docs/api/relations.md',
    'docs/api/node.md',
    'docs/api/aggregates.md',
    'docs/api/mutations.md',
    'docs/api/functions.md',
    'docs/api/views.md',
    'docs/api/roles.md',
    'docs/api/introspection.md',
    'docs/api/directives.md',
    'docs/live.md',
    'docs/scalars.md',
    'docs/errors.md',
    'docs/http.md',
    'docs/idempotency.md',
    'docs/differences.md',
  ],
  Additions: [
    'docs/additions.md',
    'docs/additions/filters.md',
    'docs/additions/writes.md',
    'docs/additions/nested-writes.md',
    'docs/additions/aggregates.md',
    'docs/additions/views.md',
    'docs/additions/types.md',
    'docs/additions/json.md',
    'docs/additions/search.md',
    'docs/types.md',
    'docs/vectors.md',
  ],
  Clients: [
    'docs/agents.md',
    'docs/clients/session.md',
    'docs/clients/relay.md',
    'docs/clients/apollo.md',
    'docs/clients/urql.md',
    'docs/clients/graphql-ws.md',
    'docs/clients/houdini.md',
    'docs/clients/graphql-request.md',
    'docs/clients/tanstack-query.md',
    'docs/clients/supabase-js.md',
    'docs/clients/codegen.md',
    'docs/clients/gql-tada.md',
  ],
  'In production': [
    'docs/settings.md',
    'docs/tokens.md',
    'docs/security.md',
    'docs/limits.md',
    'docs/deployment.md',
    'docs/replicas.md',
    'docs/citus.md',
    'docs/scaling.md',
    'docs/library.md',
    'docs/mounting.md',
    'docs/projects.md',
    'docs/operations.md',
    'docs/availability.md',
    'docs/telemetry.md',
  ],
  'The database': ['docs/schema-changes.md'],
  'Troubleshooting and performance': ['docs/diagnose.md', 'docs/performance.md', 'bench/results.md', 'bench/scaling-results.md'],
  Contributing: ['CONTRIBUTING.md', 'ARCHITECTURE.md', 'docs/internals.md', 'docs/decisions.md', 'CHANGELOG.md'],
};

/** VitePress's sidebar: each page by its heading. */
export function sidebar() {
  return Object.entries(parts).map(([text, pages]) => ({
    text,
    items: pages.map((page) => ({ text: headingOf(page), link: `/${page.replace(/\.md$/, '')}` })),
  }));
}

function headingOf(page: string): string {
  return (/^# (.+)$/m.exec(readFileSync(new URL(page, root), 'utf8'))?.[1] ?? page).replaceAll('`', '');
}
