/**
 * The projects of a server, read from files and read again when they change. In: the settings; out: what the server needs, and how to close
 * the projects.
 */
import { ConnectionBudget } from '../database/connection-budget.ts';
import { ApiError } from '../errors/api-error.ts';
import type { Observer } from '../events.ts';
import { readStamp, WatchedFiles } from '../files/watched-files.ts';
import type { ServerOptions } from '../http/transport/server-options.ts';
import { listProjectFiles, type ProjectEntries, readProjectFiles } from '../projects/project-files.ts';
import { Projects } from '../projects/projects.ts';
import type { ServeConfiguration } from './command-settings.ts';
import { ConfigurationError, describeMissing } from './config.ts';
import { defineProject } from './project-settings.ts';
import { flagOf } from './settings.ts';

export interface ServedProjects {
  readonly serverOptions: Pick<ServerOptions, 'divide' | 'authenticate'>;
  /** How many projects there are, how many are open, and how many connections those have. */
  readonly counts: () => { readonly known: number; readonly open: number; readonly connections: number };
  /** Reads the files again if they have changed. Never rejects. */
  refresh(): Promise<void>;
  /** Gives up a database connection of a project for another process. */
  yieldConnection(reference: string): void;
  /** Closes everything that projects have not used since this time of `performance.now()`. */
  closeUnused(since: number): void;
  close(): Promise<void>;
}

/** How many problems of the files are reported each time. */
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
      yieldConnection: (reference) => projects.yieldConnection(reference),
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
