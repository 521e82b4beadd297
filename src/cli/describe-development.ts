/** What `rowgraph dev` prints when it is ready: where everything is, the keys, and a request to begin with. */

export interface Development {
  /** Of the server, with its base path. */
  readonly url: string;
  readonly databaseUrl: string;
  readonly graphiql: boolean;
  readonly jwtSecret: string;
  readonly anonRole: string;
  readonly anonKey: string;
  readonly serviceKey: string;
  readonly sampleQuery: string;
  readonly content: string;
}

/** The text, for a person. */
export function describeDevelopment(development: Development): string {
  const { url, databaseUrl, graphiql, jwtSecret, anonRole, anonKey, serviceKey, content } = development;
  const facts: [string, string][] = [
    ['GraphQL URL', `${url}/graphql/v1`],
    ...(graphiql ? [['GraphiQL URL', `${url}/graphiql`] satisfies [string, string]] : []),
    ['DB URL', databaseUrl],
    ['JWT secret', jwtSecret],
    [`${anonRole} key`, anonKey],
    ['service_role key', serviceKey],
  ];
  const width = Math.max(...facts.map(([name]) => name.length));
  const lines = facts.map(([name, value]) => `  ${`${name}:`.padEnd(width + 2)} ${value}`);
  return `
rowgraph serves ${content}

${lines.join('\n')}

The service_role key bypasses row level security: keep it out of browsers and apps. A first request:

  ${curlLine(development)}

Ctrl-C stops.
`;
}

/** A line for a POSIX shell. */
function curlLine({ url, anonKey, sampleQuery }: Development): string {
  const body = JSON.stringify({ query: sampleQuery });
  return `curl -s ${url}/graphql/v1 -H 'apiKey: ${anonKey}' -H 'content-type: application/json' -d '${body}'`;
}
