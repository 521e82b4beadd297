/**
 * Which settings the commands accept and where their defaults differ (the scopes of `settings/settings.ts`), and which options of
 * `createRowgraph` they make.
 */
import { type LimitSettings, limitNames, limitSettingOf } from '../budget/limits.ts';
import { type Configuration, type NameIn, namesIn, optionsIn } from '../settings/settings.ts';
import type { CommandSettings, IdleUnless } from './config.ts';

export type DevelopmentConfiguration = Configuration<NameIn<'dev'>>;
export type ServeConfiguration = Configuration<NameIn<'serve'>>;
/** What `dev` and `serve` share; each handles the secret in its own way. */
export type ServiceConfiguration = Configuration<Exclude<NameIn<'serve'> & NameIn<'dev'>, 'jwtSecret' | 'databaseUrl'>>;

const serviceIdleUnless: readonly IdleUnless<NameIn<'serve'> & NameIn<'dev'>>[] = [
  { names: ['documentRoles'], needs: ['trustedDocuments'] },
  { names: ['untrustedRoles'], needs: ['onlyTrustedDocuments'] },
  { names: ['slowOperationValues'], needs: ['slowOperations'] },
  { names: ['mcpWrites', 'mcpExplain', 'mcpResultSize'], needs: ['mcp'] },
];

/** What verifies tokens. */
const tokenSettingNames = ['jwtSecret', 'previousJwtSecret', 'jwtKeys', 'supabase'] as const;

export const developmentSettings: CommandSettings<NameIn<'dev'>, never> = {
  names: namesIn('dev'),
  required: [],
  // What the environment or the file says for "serve" must not make "dev" open a database, or change it.
  flagsOnly: ['databaseUrl', 'schemaTriggers'],
  idleUnless: [...serviceIdleUnless, { names: ['poolSize', 'prepare', 'schemaTriggers'], needs: ['databaseUrl'] }],
  defaults: { extraSearchPath: ['extensions'], introspection: 'on', graphiql: true, serverTiming: true, logLevel: 'warn' },
  defaultTexts: { databaseUrl: 'an embedded database', jwtSecret: 'generated at random and kept' },
};

export const serveSettings: CommandSettings<NameIn<'serve'>, never> = {
  names: namesIn('serve'),
  required: [],
  requiredUnless: { databaseUrl: ['projects'], jwtSecret: ['jwtKeys', 'supabase', 'apiKeys', 'projects'] },
  idleUnless: [
    ...serviceIdleUnless,
    { names: ['adminHost'], needs: ['adminPort'] },
    { names: ['replicaUrl'], needs: ['databaseUrl'] },
    { names: ['maxReplicaLag'], needs: ['replicaUrl', 'projects'] },
    { names: ['projectsDomain', 'projectConnections', 'projectIdle'], needs: ['projects'] },
    // Projects have their own databases and keys.
    {
      names: [...tokenSettingNames, 'apiKeys', 'jwtAudience', 'jwtIssuer', 'revokedTokens', 'schemaTriggers', 'waitForDatabase'],
      needs: ['databaseUrl'],
    },
    // API keys are not tokens.
    { names: ['jwtAudience', 'jwtIssuer'], needs: tokenSettingNames },
    { names: ['jwtLeeway', 'roleClaim', 'tokenRoles'], needs: [...tokenSettingNames, 'projects'] },
  ],
  defaults: {},
};

/** Of commands that open a graph to look at it. */
export const inspectSettings: CommandSettings<NameIn<'inspect'>, 'databaseUrl'> = {
  names: namesIn('inspect'),
  required: ['databaseUrl'],
  defaults: {},
};
export type InspectConfiguration = Configuration<NameIn<'inspect'>>;

const agentNames = [
  ...namesIn('inspect'),
  ...namesIn('agent'),
  ...(['introspection', 'trustedDocuments', 'onlyTrustedDocuments', 'logLevel'] as const),
];
/** Of the command that serves one agent. Its user has the database's URL, so nothing is gained by hiding the schema. */
export const agentSettings: CommandSettings<(typeof agentNames)[number], never> = {
  names: agentNames,
  required: [],
  idleUnless: [
    { names: ['apiKey', 'token'], needs: ['url'] },
    { names: ['onlyTrustedDocuments'], needs: ['trustedDocuments'] },
  ],
  defaults: { introspection: 'on', logLevel: 'warn' },
};
export type AgentConfiguration = Configuration<(typeof agentNames)[number]>;

/** Of a command that opens a graph: all have what shapes it, and those that serve it have more. */
type GraphConfiguration = Configuration<Exclude<NameIn<'inspect'>, 'databaseUrl'>> & Partial<Configuration<NameIn<'serve'>>>;

export function graphOptionsOf(configuration: GraphConfiguration) {
  const { requestTimeout: timeout, queueLength, queueBytes, queueTimeout } = configuration;
  const { schemaCache, documentCache, variantCache, statementCache, introspectionCache } = configuration;
  return {
    ...optionsIn('graph', configuration),
    timeout,
    queue: withoutUndefined({ length: queueLength, bytes: queueBytes, timeout: queueTimeout }),
    caches: withoutUndefined({
      schemaBytes: schemaCache,
      documents: documentCache,
      variants: variantCache,
      statements: statementCache,
      introspectionBytes: introspectionCache,
    }),
    idempotencyKeyRoles: keyRolesOf(configuration),
    ...limitOptionsOf(configuration),
  };
}

export function limitOptionsOf(configuration: Configuration<Extract<NameIn<'inspect'>, `limit${string}` | 'unlimitedRoles'>>) {
  const single = Object.fromEntries(limitNames.map((name) => [name, configuration[limitSettingOf(name)]]));
  const limits: LimitSettings = { base: configuration.limits, ...single };
  return { limits, roleLimits: Object.fromEntries(configuration.unlimitedRoles.map((role) => [role, 'off' as const])) };
}

/** All roles but the anonymous one unless the setting names some. */
function keyRolesOf({ idempotencyKeyRoles: roles, anonRole }: GraphConfiguration) {
  if (roles === undefined) return { except: [anonRole] };
  return roles.includes('*') ? { except: [] } : roles;
}

function withoutUndefined(sizes: Readonly<Record<string, number | undefined>>): Record<string, number> {
  return Object.fromEntries(Object.entries(sizes).filter((entry): entry is [string, number] => entry[1] !== undefined));
}
