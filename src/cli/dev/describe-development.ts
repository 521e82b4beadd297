/** What `rowgraph dev` prints, for people, once it serves: where, with which keys, what to know of the API, and what to ask it first. */
import type { Paint } from '../output/terminal.ts';
import type { DirectiveNotes } from './directive-notes.ts';

export interface Development {
  /** The server's URL, with its base path. */
  readonly url: string;
  /** Of the embedded database; null if it is the user's own. */
  readonly databaseUrl: string | null;
  readonly graphiql: boolean;
  readonly mcp: boolean;
  readonly jwtSecret: string;
  readonly anonRole: string;
  readonly anonKey: string;
  /** Null if the database has no role of that name. */
  readonly serviceKey: string | null;
  readonly sampleQuery: string;
  readonly content: string;
  /** What may be missing from the API, and which commands to run. */
  readonly hints: readonly string[];
  readonly directives: DirectiveNotes;
}

export function describeDevelopment(development: Development, paint: Paint): string {
  const { url, databaseUrl, graphiql, mcp, jwtSecret, anonRole, anonKey, serviceKey, content, hints, directives } = development;
  const addresses = [
    ['GraphQL URL', paint('cyan', `${url}/graphql/v1`)],
    ...(graphiql ? [['GraphiQL URL', paint('cyan', `${url}/graphiql`)] as const] : []),
    ...(mcp ? [['Agents (MCP)', paint('cyan', `${url}/mcp`)] as const] : []),
    ...(databaseUrl === null ? [] : [['DB URL', paint('cyan', databaseUrl)] as const]),
    ['JWT secret', jwtSecret],
    [`${anonRole} key`, anonKey],
    ...(serviceKey === null ? [] : [['service_role key', serviceKey] as const]),
  ] as const;
  return `
${paint('bold', `rowgraph serves ${content}`)}

${alignRows(addresses)}

${serviceKey === null ? '' : 'The service_role key bypasses row level security: keep it out of browsers and apps.\n\n'}${hints.length > 0 ? `${hints.map((line) => paint('yellow', line)).join('\n')}\n\n` : ''}${describeDirectives(directives, paint)}

${paint('bold', 'A first request:')}

  ${curlLine(development)}

Ctrl-C stops.
`;
}

function alignRows(rows: readonly (readonly [name: string, value: string])[]): string {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `  ${`${name}:`.padEnd(width + 2)} ${value}`).join('\n');
}

function describeDirectives({ rows, isSuggestion, statements }: DirectiveNotes, paint: Paint): string {
  const heading = isSuggestion ? 'To change that, run this in psql or add it to your SQL:' : 'Set by comments in the database:';
  const sql = statements.length > 0 ? `\n\n${heading}\n\n${statements.map((statement) => `  ${statement}`).join('\n')}` : '';
  return `${paint('bold', 'How the API looks')} (see docs/api/directives.md):

${alignRows(rows)}${sql}`;
}

/** A command line for a POSIX shell. */
function curlLine({ url, anonKey, sampleQuery }: Development): string {
  const body = JSON.stringify({ query: sampleQuery });
  return `curl --silent ${url}/graphql/v1 -H 'apiKey: ${anonKey}' -H 'content-type: application/json' -d '${body}'`;
}
