/** Which settings the serving commands accept, and where their defaults differ. */

import { limitNames, limitSettingOf } from '../budget/limits.ts';
import type { CommandSettings, Configuration } from './config.ts';

const serviceSettingNames = [
  'schemas',
  'extraSearchPath',
  'introspection',
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
  'anonRole',
  'trustedRoles',
  'graphiql',
  'bodyLimit',
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
  'reportCost',
  'logLevel',
] as const;
type ServiceSettingName = (typeof serviceSettingNames)[number];

/** What `dev` and `serve` share; each handles the secret in its own way. */
export type ServiceConfiguration = Configuration<Exclude<ServiceSettingName, 'jwtSecret'>>;

type DevelopmentSettingName = ServiceSettingName | 'dataDir' | 'dbPort' | 'cacheDir';
export type DevelopmentConfiguration = Configuration<DevelopmentSettingName>;

export const developmentSettings: CommandSettings<DevelopmentSettingName, never> = {
  names: [...serviceSettingNames, 'dataDir', 'dbPort', 'cacheDir'],
  required: [],
  defaults: { extraSearchPath: ['extensions'], introspection: 'on', graphiql: true, logLevel: 'warn' },
  defaultTexts: { jwtSecret: 'generated at random and kept' },
};

type ServeSettingName =
  | ServiceSettingName
  | 'databaseUrl'
  | 'poolSize'
  | 'workers'
  | 'prepare'
  | 'schemaTriggers'
  | 'strict'
  | 'maxEventLoopDelay'
  | 'queueLength'
  | 'queueBytes'
  | 'queueTimeout'
  | 'waitForDatabase';
type ServeRequired = 'databaseUrl' | 'jwtSecret';
export type ServeConfiguration = Configuration<ServeSettingName, ServeRequired>;

export const serveSettings: CommandSettings<ServeSettingName, ServeRequired> = {
  names: [
    'databaseUrl',
    ...serviceSettingNames,
    'poolSize',
    'queueLength',
    'queueBytes',
    'queueTimeout',
    'workers',
    'prepare',
    'schemaTriggers',
    'strict',
    'maxEventLoopDelay',
    'waitForDatabase',
  ],
  required: ['databaseUrl', 'jwtSecret'],
  defaults: {},
};
