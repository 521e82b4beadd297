/** Which settings the serving commands accept, and where their defaults differ. */

import { limitNames, limitSettingOf } from '../budget/limits.ts';
import type { Configuration } from '../settings/settings.ts';
import type { CommandSettings, IdleUnless } from './config.ts';
import { modelSettingNames } from './graph-options.ts';

const serviceSettingNames = [
  'schemas',
  'extraSearchPath',
  'introspection',
  ...modelSettingNames,
  'coercion',
  'schemaCache',
  'documentCache',
  'variantCache',
  'statementCache',
  'introspectionCache',
  'tokenCache',
  'host',
  'port',
  'basePath',
  'jwtSecret',
  'previousJwtSecret',
  'jwtKeys',
  'supabase',
  'jwtAudience',
  'jwtIssuer',
  'jwtLeeway',
  'apiKeys',
  'revokedTokens',
  'roleClaim',
  'tokenRoles',
  'anonRole',
  'trustedRoles',
  'requestSettings',
  'requestHeaders',
  'graphiql',
  'bodyLimit',
  'persistedQueries',
  'trustedDocuments',
  'documentRoles',
  'onlyTrustedDocuments',
  'untrustedRoles',
  'maxBatch',
  'cacheControl',
  'keyInUrl',
  'corsOrigins',
  'rateLimit',
  'trustProxy',
  'requestTimeout',
  'headersTimeout',
  'receiveTimeout',
  'writeTimeout',
  'maxConnections',
  'maxRequests',
  'maxClientRequests',
  'maxPipelinedRequests',
  'maxBytesInFlight',
  'drainDelay',
  'closeTimeout',
  'limits',
  ...limitNames.map(limitSettingOf),
  'unlimitedRoles',
  'idempotencyKeyRoles',
  'idempotencyStorage',
  'idempotencyKeyLifetime',
  'serverTiming',
  'reportCost',
  'metricsKey',
  'accessLog',
  'slowOperations',
  'slowOperationValues',
  'logLevel',
] as const;
type ServiceSettingName = (typeof serviceSettingNames)[number];

/** What `dev` and `serve` share; each handles the secret in its own way. */
export type ServiceConfiguration = Configuration<Exclude<ServiceSettingName, 'jwtSecret'>>;

const serviceIdleUnless: readonly IdleUnless<ServiceSettingName>[] = [
  { names: ['documentRoles'], needs: ['trustedDocuments'] },
  { names: ['untrustedRoles'], needs: ['onlyTrustedDocuments'] },
  { names: ['slowOperationValues'], needs: ['slowOperations'] },
];

/** What verifies tokens. */
const tokenSettingNames = ['jwtSecret', 'previousJwtSecret', 'jwtKeys', 'supabase'] as const;
const keySettingNames = [...tokenSettingNames, 'apiKeys'] as const;

type DevelopmentSettingName = ServiceSettingName | 'dataDir' | 'dbPort' | 'cacheDir';
export type DevelopmentConfiguration = Configuration<DevelopmentSettingName>;

export const developmentSettings: CommandSettings<DevelopmentSettingName, never> = {
  names: [...serviceSettingNames, 'dataDir', 'dbPort', 'cacheDir'],
  required: [],
  idleUnless: serviceIdleUnless,
  defaults: { extraSearchPath: ['extensions'], introspection: 'on', graphiql: true, serverTiming: true, logLevel: 'warn' },
  defaultTexts: { jwtSecret: 'generated at random and kept' },
};

type ServeSettingName =
  | ServiceSettingName
  | 'databaseUrl'
  | 'poolSize'
  | 'workers'
  | 'adminPort'
  | 'adminHost'
  | 'traceDatabase'
  | 'projects'
  | 'projectsDomain'
  | 'projectConnections'
  | 'projectIdle'
  | 'prepare'
  | 'schemaTriggers'
  | 'strict'
  | 'maxEventLoopDelay'
  | 'queueLength'
  | 'queueBytes'
  | 'queueTimeout'
  | 'waitForDatabase';
export type ServeConfiguration = Configuration<ServeSettingName>;

export const serveSettings: CommandSettings<ServeSettingName, never> = {
  names: [
    'databaseUrl',
    ...serviceSettingNames,
    'poolSize',
    'queueLength',
    'queueBytes',
    'queueTimeout',
    'workers',
    'adminPort',
    'adminHost',
    'traceDatabase',
    'projects',
    'projectsDomain',
    'projectConnections',
    'projectIdle',
    'prepare',
    'schemaTriggers',
    'strict',
    'maxEventLoopDelay',
    'waitForDatabase',
  ],
  required: [],
  requiredUnless: { databaseUrl: ['projects'], jwtSecret: ['jwtKeys', 'supabase', 'apiKeys', 'projects'] },
  idleUnless: [
    ...serviceIdleUnless,
    { names: ['adminHost'], needs: ['adminPort'] },
    { names: ['projectsDomain', 'projectConnections', 'projectIdle'], needs: ['projects'] },
    // Projects have their own databases and keys.
    {
      names: [...keySettingNames, 'jwtAudience', 'jwtIssuer', 'revokedTokens', 'schemaTriggers', 'waitForDatabase'],
      needs: ['databaseUrl'],
    },
    // API keys are not tokens.
    { names: ['jwtAudience', 'jwtIssuer'], needs: tokenSettingNames },
    { names: ['jwtLeeway', 'roleClaim', 'tokenRoles'], needs: [...tokenSettingNames, 'projects'] },
  ],
  defaults: {},
};
