/**
 * Interprets the settings of a project, which have the names and the syntax of the server's own. A project inherits what it leaves out from
 * the server, but never the server's database or keys. In: the entry of a project, and the server's settings; out: how to open its graph
 * and its keys.
 */
import path from 'node:path';
import { limitNames, limitSettingOf } from '../budget/limits.ts';
import { quote } from '../errors/api-error.ts';
import type { LoginPowerful, Observer } from '../events.ts';
import { WatchedFiles } from '../files/watched-files.ts';
import { createRowgraph, type RowgraphOptions } from '../index.ts';
import type { ProjectDefinition, ProjectTokens } from '../projects/project.ts';
import type { ProjectEntry } from '../projects/project-files.ts';
import { describeLogin } from '../telemetry/write-event.ts';
import { checkDatabase } from './check-database.ts';
import type { ServeConfiguration } from './command-settings.ts';
import { type CommandSettings, ConfigurationError, readConfiguration } from './config.ts';
import { modelSettingNames } from './model-options.ts';
import type { Configuration } from './settings.ts';
import { graphOptionsOf } from './start-service.ts';
import { tokenRulesOf } from './token-rules.ts';

/** Settings that a project never inherits. */
const ownNames = [
  'databaseUrl',
  'jwtSecret',
  'previousJwtSecret',
  'jwtKeys',
  'supabase',
  'jwtAudience',
  'jwtIssuer',
  'apiKeys',
  'revokedTokens',
] as const;

/** Settings in which a project may differ from the server. */
const sharedNames = [
  'schemas',
  'extraSearchPath',
  'introspection',
  ...modelSettingNames,
  'coercion',
  'jwtLeeway',
  'roleClaim',
  'tokenRoles',
  'anonRole',
  'trustedRoles',
  'requestSettings',
  'requestHeaders',
  'poolSize',
  'queueLength',
  'queueBytes',
  'queueTimeout',
  'prepare',
  'strict',
  'requestTimeout',
  'schemaCache',
  'documentCache',
  'variantCache',
  'statementCache',
  'introspectionCache',
  'limits',
  ...limitNames.map(limitSettingOf),
  'unlimitedRoles',
  'reportCost',
  'idempotencyKeyRoles',
  'idempotencyStorage',
  'idempotencyKeyLifetime',
] as const;

type SharedName = (typeof sharedNames)[number];
type ProjectSettingName = (typeof ownNames)[number] | SharedName;
export type ProjectConfiguration = Configuration<ProjectSettingName, 'databaseUrl'>;

const names: readonly ProjectSettingName[] = [...ownNames, ...sharedNames];

/** The settings of a project. Throws a `ConfigurationError` that says what is wrong with them but repeats no secret. */
export function readProject(
  reference: string,
  { text, file }: ProjectEntry,
  server: Configuration<SharedName> | null,
): ProjectConfiguration {
  const source = `${reference} of ${path.basename(file)}`;
  const content: unknown = JSON.parse(text);
  const unknown = typeof content === 'object' && content !== null ? Object.keys(content).filter((name) => !isName(name)) : [];
  if (unknown.length > 0)
    throw new ConfigurationError([`${source} has ${unknown.map(quote).join(', ')}; a project may have only ${names.join(', ')}`]);
  const inherited = server === null ? {} : Object.fromEntries(sharedNames.map((name) => [name, server[name]]));
  const settings: CommandSettings<ProjectSettingName, 'databaseUrl'> = {
    names,
    required: ['databaseUrl'],
    isFileOnly: true,
    requiredUnless: { jwtSecret: ['jwtKeys', 'supabase', 'apiKeys'] },
    defaults: inherited as Partial<ProjectConfiguration>,
  };
  const configuration = readConfiguration(settings, { flags: {}, environment: {}, file: { name: source, text } });
  const located = (name: 'jwtKeys' | 'apiKeys' | 'revokedTokens') => {
    const place = configuration[name];
    return place === undefined || /^https?:\/\//i.test(place) ? place : path.resolve(path.dirname(file), place);
  };
  return { ...configuration, jwtKeys: located('jwtKeys'), apiKeys: located('apiKeys'), revokedTokens: located('revokedTokens') };
}

function isName(name: string): boolean {
  return (names as readonly string[]).includes(name);
}

/** How to open a project. Throws as `readProject` does. */
export function defineProject(
  reference: string,
  entry: ProjectEntry,
  server: ServeConfiguration,
  connectionBudget: NonNullable<RowgraphOptions['connectionBudget']>,
): ProjectDefinition {
  const configuration = readProject(reference, entry, server);
  const graphOptions = graphOptionsOfProject(configuration);
  let isWarnedOf = false;
  const warnOnce = async (observe: Observer): Promise<void> => {
    if (isWarnedOf) return;
    isWarnedOf = true;
    await warnOfLogin(configuration, observe);
  };
  return {
    requestTimeout: configuration.requestTimeout,
    graphIdentity: JSON.stringify([graphOptions, configuration.strict]),
    openGraph: async (observe) => {
      if (configuration.strict) await checkLogin(configuration);
      const opening = createRowgraph({ ...graphOptions, connectionBudget, observe });
      const [graph] = await Promise.all([opening, configuration.strict ? null : warnOnce(observe)]);
      return graph;
    },
    openTokens: (observe) => openTokens(configuration, observe),
  };
}

function graphOptionsOfProject(configuration: ProjectConfiguration) {
  const { databaseUrl: database, poolSize, prepare, queueLength, queueBytes, queueTimeout } = configuration;
  const queue = { length: queueLength, bytes: queueBytes, timeout: queueTimeout };
  return { ...graphOptionsOf(configuration), database, poolSize, prepare, queue };
}

/** Throws if the login role has privileges that requests must not have. */
async function checkLogin(configuration: ProjectConfiguration): Promise<void> {
  const powerful = await readPowerfulLogin(configuration);
  if (powerful) throw new Error(`"strict": ${describeLogin(powerful)}`);
}

/** Reports such a login role. If the check itself fails, opening the project fails too, or the failure is no reason to refuse it. */
async function warnOfLogin(configuration: ProjectConfiguration, observe: Observer): Promise<void> {
  const powerful = await readPowerfulLogin(configuration).catch(() => null);
  if (powerful) observe(powerful);
}

async function readPowerfulLogin({ databaseUrl, schemas, anonRole: role }: ProjectConfiguration): Promise<LoginPowerful | null> {
  const { login } = await checkDatabase({ databaseUrl, schemas, role, roleFlag: '"anonRole"' });
  const { isSuperuser, bypassesRowSecurity } = login;
  return isSuperuser || bypassesRowSecurity ? { kind: 'login-powerful', role: login.role, isSuperuser } : null;
}

/** The keys of a project; watches their files. */
export async function openTokens(configuration: ProjectConfiguration, observe: Observer): Promise<ProjectTokens> {
  const { previousSecrets = [], ...rules } = await tokenRulesOf(configuration, observe);
  const secrets = configuration.jwtSecret === undefined ? [] : [configuration.jwtSecret];
  const stop = (): void => {
    for (const watched of [rules.apiKeys, rules.revoked]) if (watched instanceof WatchedFiles) watched.stop();
  };
  return { rules: { ...rules, secrets: [...secrets, ...previousSecrets] }, stop };
}
