/** What `rowgraph dev` prints when it is ready: the URLs, the keys, what determines the shape of the API, and a first request. */
import type { DirectiveNotes } from './embedded/directive-notes.ts';
import type { Paint } from './terminal.ts';

export interface Development {
  /** The server's URL, with its base path. */
  readonly url: string;
  readonly databaseUrl: string;
  readonly graphiql: boolean;
  readonly jwtSecret: string;
  readonly anonRole: string;
  readonly anonKey: string;
  readonly serviceKey: string;
  readonly sampleQuery: string;
  readonly content: string;
  /** What may be missing from the API, and which commands to run. */
  readonly hints: readonly string[];
  readonly directives: DirectiveNotes;
}

/** The text, for people. */
export function describeDevelopment(development: Development, paint: Paint): string {
  const { url, databaseUrl, graphiql, jwtSecret, anonRole, anonKey, serviceKey, content, hints, directives } = development;
  const places = [
    ['GraphQL URL', paint('cyan', `${url}/graphql/v1`)],
    ...(graphiql ? [['GraphiQL URL', paint('cyan', `${url}/graphiql`)] as const] : []),
    ['DB URL', paint('cyan', databaseUrl)],
    ['JWT secret', jwtSecret],
    [`${anonRole} key`, anonKey],
    ['service_role key', serviceKey],
  ] as const;
  return `
${paint('bold', `rowgraph serves ${content}`)}

${alignFacts(places)}

The service_role key bypasses row level security: keep it out of browsers and apps.

${hints.length > 0 ? `${hints.map((line) => paint('yellow', line)).join('\n')}\n\n` : ''}${describeDirectives(directives, paint)}

${paint('bold', 'A first request:')}

  ${curlLine(development)}

Ctrl-C stops.
`;
}

function alignFacts(facts: readonly (readonly [name: string, value: string])[]): string {
  const width = Math.max(...facts.map(([name]) => name.length));
  return facts.map(([name, value]) => `  ${`${name}:`.padEnd(width + 2)} ${value}`).join('\n');
}

function describeDirectives({ facts, isSuggestion, statements }: DirectiveNotes, paint: Paint): string {
  const heading = isSuggestion ? 'To change that, run this in psql or add it to your SQL:' : 'Set by comments in the database:';
  const sql = statements.length > 0 ? `\n\n${heading}\n\n${statements.map((statement) => `  ${statement}`).join('\n')}` : '';
  return `${paint('bold', 'How the API looks')} (see docs/api.md):

${alignFacts(facts)}${sql}`;
}

/** A command line for a POSIX shell. */
function curlLine({ url, anonKey, sampleQuery }: Development): string {
  const body = JSON.stringify({ query: sampleQuery });
  return `curl --silent ${url}/graphql/v1 -H 'apiKey: ${anonKey}' -H 'content-type: application/json' -d '${body}'`;
}
