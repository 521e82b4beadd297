/** `rowgraph keys`: signs keys with the project's secret. */
import { Command } from 'commander';
import { signKey } from '../auth/sign-key.ts';
import { CommandError } from './command-error.ts';
import type { CommandSettings, Environment } from './config.ts';
import { addSettings, readSettings } from './settings-options.ts';

const keysSettings = { names: ['jwtSecret', 'anonRole'], required: ['jwtSecret'], defaults: {} } as const satisfies CommandSettings<
  'jwtSecret' | 'anonRole',
  'jwtSecret'
>;

type Flags = Readonly<Record<'expires' | 'role' | 'claims', string | undefined>>;

export function keysCommand(environment: Environment): Command {
  const command = new Command('keys')
    .description('Sign a key for anon and one for service_role, or a token for the role of --role')
    .option('--role <ROLE>', 'Print only one token, for this role')
    .option('--claims <JSON>', 'Additional claims for that token, such as {"sub":"…"}; requires --role')
    .option('--expires <TIME>', 'How long the keys are valid, such as "30 days" (default: until the secret changes)');
  return addSettings(command, keysSettings).action(async (flags: Flags) => {
    const { jwtSecret, anonRole } = readSettings(keysSettings, flags, environment);
    if (flags.role !== undefined) return print(await sign(jwtSecret, flags.role, flags));
    if (flags.claims !== undefined) throw new CommandError('--claims requires --role', 2);
    const width = Math.max(anonRole.length, 'service_role'.length) + 2;
    for (const role of [anonRole, 'service_role']) print(role.padEnd(width) + (await sign(jwtSecret, role, flags)));
  });
}

async function sign(secret: string, role: string, { expires, claims }: Flags): Promise<string> {
  const members = claims === undefined ? {} : parseClaims(claims);
  try {
    return await signKey(secret, role, expires, members);
  } catch (error) {
    if (error instanceof TypeError)
      throw new CommandError(`--expires must be a time such as "30 days" or 12h (it is "${expires}")`, 2, error);
    throw error;
  }
}

function parseClaims(text: string): Record<string, unknown> {
  let claims: unknown;
  try {
    claims = JSON.parse(text);
  } catch {
    // Reported below, with everything else that is not an object.
  }
  if (typeof claims !== 'object' || claims === null || Array.isArray(claims)) throw new CommandError('--claims must be a JSON object', 2);
  return claims as Record<string, unknown>;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
