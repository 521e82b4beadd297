/** Which settings the commands accept, and where their defaults differ: the scopes of `settings/settings.ts`. */
import { type Configuration, type NameIn, namesIn } from '../settings/settings.ts';
import type { CommandSettings, IdleUnless } from './config.ts';

export type DevelopmentConfiguration = Configuration<NameIn<'dev'>>;
export type ServeConfiguration = Configuration<NameIn<'serve'>>;
/** What `dev` and `serve` share; each handles the secret in its own way. */
export type ServiceConfiguration = Configuration<Exclude<NameIn<'serve'> & NameIn<'dev'>, 'jwtSecret'>>;

const serviceIdleUnless: readonly IdleUnless<NameIn<'serve'> & NameIn<'dev'>>[] = [
  { names: ['documentRoles'], needs: ['trustedDocuments'] },
  { names: ['untrustedRoles'], needs: ['onlyTrustedDocuments'] },
  { names: ['slowOperationValues'], needs: ['slowOperations'] },
];

/** What verifies tokens. */
const tokenSettingNames = ['jwtSecret', 'previousJwtSecret', 'jwtKeys', 'supabase'] as const;

export const developmentSettings: CommandSettings<NameIn<'dev'>, never> = {
  names: namesIn('dev'),
  required: [],
  idleUnless: serviceIdleUnless,
  defaults: { extraSearchPath: ['extensions'], introspection: 'on', graphiql: true, serverTiming: true, logLevel: 'warn' },
  defaultTexts: { jwtSecret: 'generated at random and kept' },
};

export const serveSettings: CommandSettings<NameIn<'serve'>, never> = {
  names: namesIn('serve'),
  required: [],
  requiredUnless: { databaseUrl: ['projects'], jwtSecret: ['jwtKeys', 'supabase', 'apiKeys', 'projects'] },
  idleUnless: [
    ...serviceIdleUnless,
    { names: ['adminHost'], needs: ['adminPort'] },
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
