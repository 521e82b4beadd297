/** What statements in a file may need but the embedded database lacks: extensions, and most of the Supabase platform. */

/** What a failed statement needs. */
export interface MissingPart {
  /** `extension "pg_net"`, `schema "storage", which belongs to the Supabase platform`. */
  readonly description: string;
  /** Whether the statement can be skipped: the API then lacks nothing, and nobody has more rights than with it. */
  readonly isDispensable: boolean;
}

/** Schemas of the platform. `supabase.ts` creates part of `auth`. */
const schemas = [
  ...['auth', 'storage', 'realtime', 'cron', 'net', 'vault', 'pgsodium', 'pgmq', 'graphql', 'graphql_public'],
  ...['supabase_functions', 'supabase_migrations', '_realtime', '_analytics'],
].join('|');
const qualified = new RegExp(`\\b(${schemas})"?\\s*\\.`);
const missing = new RegExp(`^(?:schema "|relation "|type "|function )(${schemas})(?:"|\\..+) does not exist$`);
const missingExtension = /^extension "(.+)" (is not available|does not exist)$/;

/** Such a statement affects only the platform, its rows, or rights that it would have granted. */
const dispensable =
  /^(insert|update|delete|select|grant|revoke|comment|alter|drop|create\s+(policy|extension|(or\s+replace\s+)?trigger))\b/i;
const restrictive = /^create\s+policy\b[^;]*\bas\s+restrictive\b/i;

/** Whether a statement refers to the platform, and so may fail because a part of it is missing. */
export function mentionsPlatform(statement: string): boolean {
  return qualified.test(statement);
}

/** What a failed statement is missing; null if it failed for another reason. */
export function findMissingPart(statement: string, message: string): MissingPart | null {
  const extension = missingExtension.exec(message)?.[1];
  if (extension !== undefined) return { description: `extension "${extension}"`, isDispensable: true };
  const schema = missing.exec(message)?.[1];
  if (schema === undefined) return null;
  const isDispensable = dispensable.test(statement) && !restrictive.test(statement);
  // `auth` exists, so name the missing object in it.
  const part = schema === 'auth' ? message.replace(/ does not exist$/, '') : `schema "${schema}"`;
  return { description: `${part}, which belongs to the Supabase platform`, isDispensable };
}
