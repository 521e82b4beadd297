/** The clients that `rowgraph init` can write: their packages, how their types are made, and what they need from the project. */
import type { Project } from './project.ts';

interface ClientRow {
  /** For the menu. */
  readonly description: string;
  readonly dependencies: readonly string[];
  readonly devDependencies: readonly string[];
  /** The script that makes the types. */
  readonly codegen: string;
  /** What makes them: GraphQL Code Generator itself, or a tool that reads the downloaded schema. */
  readonly types: 'client preset' | 'downloaded schema';
  /** Files in the root of the project beside those of all. */
  readonly rootFiles?: readonly string[];
  /** Whether its library signs users in and renews their tokens; the others share session.ts. */
  readonly keepsSession?: boolean;
  /** Whether documents are compiled into the program, which takes a bundler. */
  readonly isBundled?: boolean;
  /** Whether it uses the interface of TypeScript that version 7 does not have. */
  readonly needsFormerTypeScript?: boolean;
  /** Variables that the client reads beside the URL and the key, with their values in development. */
  readonly variables?: Readonly<Record<string, string>>;
  /** What to do by hand, in a project that is there already. */
  readonly byHand?: (project: Project) => readonly string[];
}

const clientPreset = {
  devDependencies: ['@graphql-codegen/cli', '@graphql-codegen/client-preset'],
  codegen: 'graphql-codegen --config codegen.ts',
  types: 'client preset',
} as const;

/** The options of Relay's plugin stand in the configuration of the bundler. */
function relayByHand({ kind }: Project): readonly string[] {
  return kind === 'next'
    ? ["add to next.config: compiler: { relay: { src: './', language: 'typescript' } }"]
    : ["add to the plugins of vite.config: babel({ plugins: [['relay', { eagerEsModules: true }]] }), from @rolldown/plugin-babel"];
}

export const clients = {
  'graphql-request': { description: 'small, without a cache', dependencies: ['graphql', 'graphql-request'], ...clientPreset },
  apollo: { description: 'Apollo Client, with a normalized cache', dependencies: ['@apollo/client', 'graphql', 'rxjs'], ...clientPreset },
  urql: { description: 'urql, with a cache of documents', dependencies: ['@urql/core', 'graphql'], ...clientPreset },
  relay: {
    description: 'Relay, with its compiler',
    dependencies: ['relay-runtime'],
    devDependencies: ['@rolldown/plugin-babel', '@types/relay-runtime', 'babel-plugin-relay', 'graphql', 'relay-compiler', 'vite'],
    codegen: 'node download-schema.ts && relay-compiler',
    types: 'downloaded schema',
    rootFiles: ['relay.config.json'],
    isBundled: true,
    byHand: relayByHand,
  },
  'gql-tada': {
    description: 'gql.tada, which infers types without generated files, with graphql-request',
    dependencies: ['gql.tada', 'graphql', 'graphql-request'],
    devDependencies: [],
    codegen: 'node download-schema.ts && gql.tada generate output',
    types: 'downloaded schema',
    needsFormerTypeScript: true,
  },
  'tanstack-query': {
    description: 'TanStack Query, with graphql-request',
    dependencies: ['@tanstack/query-core', 'graphql', 'graphql-request'],
    ...clientPreset,
  },
  'supabase-js': {
    description: 'the session of supabase-js, with graphql-request',
    dependencies: ['@supabase/supabase-js', 'graphql', 'graphql-request'],
    ...clientPreset,
    keepsSession: true,
    variables: { SUPABASE_URL: 'http://127.0.0.1:54321' },
  },
} as const satisfies Readonly<Record<string, ClientRow>>;

export type ClientName = keyof typeof clients;
export const clientNames = Object.keys(clients) as readonly ClientName[];

export function clientRow(name: ClientName): ClientRow {
  return clients[name];
}
