/** The projects of a server, read from files and read again when they change. */
import path from 'node:path';
import { ConnectionBudget } from '../../database/connection-budget.ts';
import { ApiError, quote } from '../../errors/api-error.ts';
import { describeLogin, type PowerfulLogin } from '../../event-details.ts';
import type { Observer } from '../../events.ts';
import { readStamp, WatchedFiles } from '../../files/watched-files.ts';
import type { ServerOptions } from '../../http/transport/start-server.ts';
import { createRowgraph, type RowgraphOptions } from '../../index.ts';
import type { ProjectDefinition, ProjectTokens } from '../../projects/project.ts';
import { listProjectFiles, type ProjectEntries, type ProjectEntry, readProjectFiles } from '../../projects/project-files.ts';
import { Projects } from '../../projects/projects.ts';
import { type Configuration, flagOf, type NameIn, namesIn } from '../../settings/settings.ts';
import { checkDatabase } from '../check-database.ts';
import { graphOptionsOf, type ServeConfiguration } from '../command-settings.ts';
import { type CommandSettings, ConfigurationError, describeMissing, readConfiguration } from '../config.ts';
import { tokenRulesOf } from './token-rules.ts';

export interface ServedProjects {
  readonly serverOptions: Pick<ServerOptions, 'divide' | 'authenticate'>;
  /** How many projects there are, how many are open, and how many connections those have. */
  readonly counts: () => { readonly known: number; readonly open: number; readonly connections: number };
  /** Reads the files again if they have changed. Never rejects. */
  refresh(): Promise<void>;
  /** Closes everything that projects have not used since this time of `performance.now()`. */
  closeUnused(since: number): void;
  close(): Promise<void>;
}

const mostProblems = 20;

/** Null if the server has no projects. Throws `ConfigurationError` if they cannot be read, or other settings do not fit. */
export async function openProjects(configuration: ServeConfiguration, observe: Observer): Promise<ServedProjects | null> {
  const { projects: location, projectsDomain: domain = null, projectConnections, projectIdle: idleMilliseconds } = configuration;
  if (location === undefined) return null;
  if (configuration.databaseUrl !== undefined && !hasKeys(configuration)) throw new ConfigurationError([describeMissing('jwtSecret')]);
  const budget = new ConnectionBudget(projectConnections);
  const define: ConstructorParameters<typeof Projects>[0]['define'] = (reference, entry) =>
    defineProject(reference, entry, configuration, budget);
  // One connection for requests, and one to watch the schema.
  const mostOpen = Math.max(1, Math.floor(projectConnections / 2));
  const projects = new Projects({ define, domain, idleMilliseconds, mostOpen, observe });
  try {
    const files = await watch(location, projects, observe);
    return {
      serverOptions: { divide: projects.divide, ...(configuration.databaseUrl === undefined && { authenticate: refuse }) },
      counts: () => ({ ...projects.counts, connections: budget.taken }),
      refresh: () => files.refresh(),
      closeUnused: (since) => projects.closeUnused(since),
      close: () => {
        files.stop();
        return projects.close();
      },
    };
  } catch (error) {
    await projects.close();
    throw new ConfigurationError([`${flagOf('projects')}: ${(error as Error).message}`]);
  }
}

function hasKeys({ jwtSecret, jwtKeys, supabase, apiKeys }: ServeConfiguration): boolean {
  return [jwtSecret, jwtKeys, supabase, apiKeys].some((setting) => setting !== undefined);
}

/** Files that are broken from the beginning are reported like files that break later, unless they leave no project at all. */
async function watch(location: string, projects: Projects, observe: Observer): Promise<WatchedFiles<ProjectEntries>> {
  const fail = (error: Error): void => observe({ kind: 'files-load-failed', content: 'projects', error });
  let before: ProjectEntries | null = null;
  return WatchedFiles.open({
    read: async () => {
      const entries = await readProjectFiles(location, before);
      if (before === null && entries.byReference.size === 0 && entries.problems.length > 0) throw new Error(entries.problems[0]);
      return entries;
    },
    readStamp: async () => readStamp(await listProjectFiles(location)),
    onLoad: (entries) => {
      before = entries;
      for (const problem of entries.problems.slice(0, mostProblems)) fail(new Error(problem));
      projects.update(entries);
      observe({ kind: 'files-loaded', content: 'projects', count: entries.byReference.size });
    },
    onFailure: fail,
  });
}

/** For a server without a default project. */
const refuse: NonNullable<ServerOptions['authenticate']> = () => {
  throw new ApiError(
    'PROJECT_NOT_FOUND',
    'The host names no project, and there is no default one. Send the request to <reference>.<domain>.',
  );
};

export type ProjectConfiguration = Configuration<ProjectSettingName, 'databaseUrl'>;
type ProjectSettingName = NameIn<'own'> | NameIn<'project'>;

/** What a project inherits from the server is in the scope `project`; its own it never inherits. */
const names: readonly ProjectSettingName[] = [...namesIn('own'), ...namesIn('project')];

/** The settings of a project. Throws a `ConfigurationError` that says what is wrong with them but repeats no secret. */
export function readProject(
  reference: string,
  { text, file }: ProjectEntry,
  server: Configuration<NameIn<'project'>> | null,
): ProjectConfiguration {
  const origin = `${reference} of ${path.basename(file)}`;
  const content: unknown = JSON.parse(text);
  const unknown = typeof content === 'object' && content !== null ? Object.keys(content).filter((name) => !isName(name)) : [];
  if (unknown.length > 0)
    throw new ConfigurationError([`${origin} has ${unknown.map(quote).join(', ')}; a project may have only ${names.join(', ')}`]);
  const inherited = server === null ? {} : Object.fromEntries(namesIn('project').map((name) => [name, server[name]]));
  const settings: CommandSettings<ProjectSettingName, 'databaseUrl'> = {
    names,
    required: ['databaseUrl'],
    isFileOnly: true,
    requiredUnless: { jwtSecret: ['jwtKeys', 'supabase', 'apiKeys'] },
    defaults: inherited as Partial<ProjectConfiguration>,
  };
  const configuration = readConfiguration(settings, { flags: {}, environment: {}, file: { name: origin, text } });
  const located = (name: 'jwtKeys' | 'apiKeys' | 'revokedTokens') => {
    const location = configuration[name];
    return location === undefined || /^https?:\/\//i.test(location) ? location : path.resolve(path.dirname(file), location);
  };
  return { ...configuration, jwtKeys: located('jwtKeys'), apiKeys: located('apiKeys'), revokedTokens: located('revokedTokens') };
}

function isName(name: string): boolean {
  return (names as readonly string[]).includes(name);
}

/** How to open a project. Throws as `readProject` does. */
function defineProject(
  reference: string,
  entry: ProjectEntry,
  server: ServeConfiguration,
  connectionBudget: NonNullable<RowgraphOptions['connectionBudget']>,
): ProjectDefinition {
  const configuration = readProject(reference, entry, server);
  const graphOptions = { ...graphOptionsOf(configuration), database: configuration.databaseUrl };
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

/** Throws if the login role has privileges that requests must not have. */
async function checkLogin(configuration: ProjectConfiguration): Promise<void> {
  const powerful = await readPowerfulLogin(configuration);
  if (powerful) throw new Error(`"strict": ${describeLogin(powerful)}`);
}

/** Reports such a login role. If the check itself fails, opening the project fails too, or the failure is no reason to refuse it. */
async function warnOfLogin(configuration: ProjectConfiguration, observe: Observer): Promise<void> {
  const powerful = await readPowerfulLogin(configuration).catch(() => null);
  if (powerful) observe({ kind: 'login-powerful', ...powerful });
}

async function readPowerfulLogin({ databaseUrl, schemas, anonRole: role }: ProjectConfiguration): Promise<PowerfulLogin | null> {
  const { login } = await checkDatabase({ databaseUrl, schemas, role, roleFlag: '"anonRole"' });
  const { isSuperuser, bypassesRowSecurity } = login;
  return isSuperuser || bypassesRowSecurity ? { role: login.role, isSuperuser } : null;
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
