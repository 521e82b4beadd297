/** What `rowgraph projects` does with the files of projects. */
import { randomBytes, randomInt } from 'node:crypto';
import { signKey } from '../../auth/sign-key.ts';
import { changeProject, isReference, type ProjectEntries, type ProjectSettings, readProjectFiles } from '../../projects/project-files.ts';
import { withoutPassword } from '../../settings/database-url.ts';
import { checkDatabase } from '../check-database.ts';
import { CommandError } from '../command-error.ts';
import { openTokens, type ProjectConfiguration, readProject } from '../serve/serve-projects.ts';

/** A line for each project: its reference, its database and the kinds of its keys; or what is wrong with it. */
export async function listProjects(location: string): Promise<readonly string[]> {
  const entries = await readAll(location);
  const lines = [...entries.byReference].sort().map(([reference, entry]) => {
    try {
      return `${reference}  ${describe(readProject(reference, entry, null))}`;
    } catch (error) {
      return `${reference}  ${(error as Error).message}`;
    }
  });
  return [...lines, ...entries.problems];
}

/** Adds a project. Unless other keys are given, it gets a JWT secret. Resolves to the reference and the keys signed with that secret. */
export async function addProject(
  location: string,
  reference: string | null,
  settings: ProjectSettings,
  anonRole: string,
): Promise<readonly string[]> {
  const name = reference ?? makeReference();
  const signs = settings.jwtKeys === undefined && settings.apiKeys === undefined;
  const complete = signs ? { ...settings, jwtSecret: makeSecret() } : settings;
  checkSettings(name, complete, location);
  if (await exists(location, name)) throw new CommandError(`the project ${name} exists already`, 2);
  await change(location, name, (entry) => {
    if (entry !== undefined) throw new Error(`the project ${name} exists already`);
    return complete;
  });
  return [name, ...(signs ? await signKeys(String(complete.jwtSecret), anonRole) : [])];
}

export async function removeProject(location: string, reference: string): Promise<void> {
  await change(location, reference, (entry) => {
    checkExists(entry, reference);
    return undefined;
  });
}

/**
 * Gives a project a new JWT secret; tokens signed with the previous one stay valid unless `revokes`. Resolves to the keys signed with the
 * new one.
 */
export async function rotateKeys(location: string, reference: string, revokes: boolean, anonRole: string): Promise<readonly string[]> {
  const secret = makeSecret();
  await change(location, reference, (entry) => {
    const { previousJwtSecret: _, ...settings } = checkExists(entry, reference);
    if (typeof settings.jwtSecret !== 'string')
      throw new Error(`the project ${reference} has no "jwtSecret"; change its keys where they are issued`);
    return { ...settings, jwtSecret: secret, ...(!revokes && { previousJwtSecret: settings.jwtSecret }) };
  });
  return signKeys(secret, anonRole);
}

const checkedAtATime = 8;

/**
 * The problems of projects: their settings, the files of their keys, their databases. Each is prefixed with the project's reference;
 * `onChecked` is called for each project without problems.
 */
export async function checkProjects(location: string, onChecked: (reference: string) => void): Promise<readonly string[]> {
  const entries = await readAll(location);
  const problems = [...entries.problems];
  const left = entries.byReference.entries();
  const checkLeft = async (): Promise<void> => {
    for (const [reference, entry] of left) {
      try {
        await checkProject(readProject(reference, entry, null));
        onChecked(reference);
      } catch (error) {
        problems.push(`${reference}: ${(error as Error).message}`);
      }
    }
  };
  await Promise.all(Array.from({ length: checkedAtATime }, checkLeft));
  return problems;
}

async function checkProject(configuration: ProjectConfiguration): Promise<void> {
  const { databaseUrl, schemas, anonRole: role } = configuration;
  const tokens = await openTokens(configuration, () => undefined);
  tokens.stop();
  await checkDatabase({ databaseUrl, schemas, role, roleFlag: '"anonRole"' });
}

function describe({ databaseUrl, schemas, jwtSecret, previousJwtSecret, jwtKeys, supabase, apiKeys }: ProjectConfiguration): string {
  const kinds = { jwtSecret, previousJwtSecret, jwtKeys, supabase, apiKeys };
  const configured = Object.entries(kinds).flatMap(([kind, value]) => (value === undefined ? [] : [kind]));
  return `${withoutPassword(databaseUrl)}  schemas: ${schemas.join(', ')}  keys: ${configured.join(', ')}`;
}

async function readAll(location: string): Promise<ProjectEntries> {
  try {
    return await readProjectFiles(location, null);
  } catch (error) {
    throw new CommandError(`--projects: ${(error as Error).message}`, 2, error);
  }
}

async function exists(location: string, reference: string): Promise<boolean> {
  return readProjectFiles(location, null).then(
    ({ byReference }) => byReference.has(reference),
    () => false,
  );
}

async function change(location: string, reference: string, how: Parameters<typeof changeProject>[2]): Promise<void> {
  try {
    await changeProject(location, reference, how);
  } catch (error) {
    throw new CommandError((error as Error).message, 2, error);
  }
}

/** Never creates a project that the server would reject. */
function checkSettings(reference: string, settings: ProjectSettings, file: string): void {
  if (!isReference(reference)) throw new CommandError(`"${reference}" is not a reference: use 20 lower-case letters and digits`, 2);
  try {
    readProject(reference, { text: JSON.stringify(settings), file }, null);
  } catch (error) {
    throw new CommandError((error as Error).message, 2, error);
  }
}

function checkExists(entry: unknown, reference: string): ProjectSettings {
  if (typeof entry !== 'object' || entry === null) throw new Error(`there is no project ${reference}`);
  return entry as ProjectSettings;
}

function makeReference(): string {
  return Array.from({ length: 20 }, () => 'abcdefghijklmnopqrstuvwxyz'[randomInt(26)]).join('');
}

function makeSecret(): string {
  return randomBytes(32).toString('base64url');
}

async function signKeys(secret: string, anonRole: string): Promise<readonly string[]> {
  const width = Math.max(anonRole.length, 'service_role'.length) + 2;
  return Promise.all([anonRole, 'service_role'].map(async (role) => role.padEnd(width) + (await signKey(secret, role))));
}
