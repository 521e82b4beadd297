/** `rowgraph keys`: signs keys with the project's secret, or creates an opaque one. */
import { Command } from 'commander';
import { createApiKey, parseApiKeys } from '../../auth/api-keys.ts';
import { isRoleName } from '../../auth/caller.ts';
import { CommandError } from '../command-error.ts';
import { addSettings, type CommandSettings, ConfigurationError, describeMissing, type Environment, readSettings } from '../config.ts';
import { parseJsonObject, print } from './with-graph.ts';

const keysSettings = { names: ['jwtSecret', 'anonRole'], required: [], defaults: {} } as const satisfies CommandSettings<
  'jwtSecret' | 'anonRole',
  never
>;

type Flags = Readonly<Record<'expires' | 'role' | 'claims' | 'opaque', string | undefined>>;

export function keysCommand(environment: Environment): Command {
  const command = new Command('keys')
    .description('Sign keys for anon and service_role, sign a token for another role, or generate an opaque key')
    .option('--role <ROLE>', 'Print one token, for this role')
    .option('--opaque <NAME>', 'Print an opaque key of this name for the role of --role, and its entry for the file of --api-keys')
    .option('--claims <JSON>', 'Additional claims of the token or key, such as {"sub": "…"}; requires --role')
    .option('--expires <TIME>', 'How long the keys are valid, such as "30 days" (default: no expiry)');
  return addSettings(command, keysSettings).action(async (flags: Flags) => {
    const { jwtSecret, anonRole } = readSettings(keysSettings, flags, environment);
    checkRole(flags.role);
    if (flags.opaque !== undefined) return printOpaque(flags.opaque, anonRole, flags);
    if (jwtSecret === undefined) throw new ConfigurationError([describeMissing('jwtSecret')]);
    if (flags.role !== undefined) return print(await sign(jwtSecret, flags.role, flags));
    if (flags.claims !== undefined) throw new CommandError('--claims requires --role', 2);
    const width = Math.max(anonRole.length, 'service_role'.length) + 2;
    for (const role of [anonRole, 'service_role']) print(role.padEnd(width) + (await sign(jwtSecret, role, flags)));
  });
}

/** Never hands out a token whose role the server would reject. */
function checkRole(role: string | undefined): void {
  if (role !== undefined && !isRoleName(role)) throw new CommandError(`--role must be the name of a database role (it is "${role}")`, 2);
}

/** Prints the key, which is stored nowhere else, and on the next line its entry for the file of keys. */
async function printOpaque(name: string, anonRole: string, { role, claims, expires }: Flags): Promise<void> {
  if (name === '' || role === undefined) throw new CommandError('--opaque requires a name, and --role', 2);
  const { key, hash } = createApiKey(role === anonRole ? 'publishable' : 'secret');
  const entry = {
    hash,
    role,
    ...(expires !== undefined && { expires: await expiresAt(expires) }),
    ...(claims !== undefined && { claims: parseJsonObject('--claims', claims) }),
  };
  const file = JSON.stringify(Object.fromEntries([[name, entry]]));
  checkEntry(file);
  print(key);
  print(file);
}

/** Never hands out a key that the server would reject. */
function checkEntry(file: string): void {
  try {
    parseApiKeys(file);
  } catch (error) {
    throw new CommandError((error as Error).message, 2, error);
  }
}

async function expiresAt(expires: string): Promise<string> {
  const { expiryOf } = await import('../../auth/sign-key.ts');
  try {
    return new Date(expiryOf(expires) * 1000).toISOString();
  } catch (error) {
    throw wrongTime(expires, error);
  }
}

async function sign(secret: string, role: string, { expires, claims }: Flags): Promise<string> {
  const { signKey } = await import('../../auth/sign-key.ts');
  const members = parseJsonObject('--claims', claims) ?? {};
  try {
    return await signKey(secret, role, expires, members);
  } catch (error) {
    if (error instanceof TypeError) throw wrongTime(expires, error);
    throw error;
  }
}

function wrongTime(expires: string | undefined, cause: unknown): CommandError {
  return new CommandError(`--expires must be a time such as "30 days" or 12h (it is "${expires}")`, 2, cause);
}
