/** A PostgreSQL connection for one task of a command. Failures become one line that says what to change. */
import type { Client } from 'pg';
import { CommandError } from './command-error.ts';

/** The database cannot be reached, is starting or stopping, or has no free connection: changing settings would not help. */
export class UnreachableError extends CommandError {
  constructor(message: string, cause: unknown) {
    super(message, 1, cause);
    this.name = 'UnreachableError';
  }
}

/**
 * Connects, does some work, and disconnects. `patience` bounds connecting and each query, in milliseconds. Rejects with a `CommandError`: with exit
 * code 2 where the settings are wrong, with `UnreachableError` where the same settings may do later.
 */
export async function connectOnce<T>(databaseUrl: string, work: (client: Client) => Promise<T>, patience = 10_000): Promise<T> {
  const client = await makeClient(databaseUrl, patience);
  // A connection that fails later does not matter here, but would end the process if nobody listened.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await work(client);
  } catch (error) {
    if (error instanceof CommandError) throw error;
    const message = describeFailure(databaseUrl, error);
    throw isPassing(error) ? new UnreachableError(message, error) : new CommandError(message, 2, error);
  } finally {
    // A server that does not respond does not respond to this either.
    void client.end().catch(() => undefined);
  }
}

/** `pg` reads the URL and the files that it names, such as that of `sslrootcert`. What is wrong with these does not change by itself. */
async function makeClient(databaseUrl: string, patience: number): Promise<Client> {
  const { Client } = await import('pg');
  const bounds = { connectionTimeoutMillis: patience, query_timeout: patience };
  try {
    return new Client({ connectionString: databaseUrl, application_name: 'rowgraph', ...bounds });
  } catch (error) {
    throw new CommandError(describeFailure(databaseUrl, error), 2, error);
  }
}

function describeFailure(databaseUrl: string, error: unknown): string {
  return `cannot use the database ${withoutPassword(databaseUrl)}: ${messageOf(error)}`;
}

/** The URL without its password. */
export function withoutPassword(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  url.password = '';
  url.searchParams.delete('password');
  return url.href;
}

/** Network errors of a server that is not there, or not there yet. */
const networkCodes: ReadonlySet<string> = new Set(
  'ECONNREFUSED ECONNRESET ECONNABORTED EPIPE ENOTFOUND EAI_AGAIN EAI_FAIL ETIMEDOUT EHOSTUNREACH EHOSTDOWN ENETUNREACH ENETDOWN ENOENT'.split(
    ' ',
  ),
);
/** What a server says that starts, stops, is recovering, or has no connection to spare; 08 is the class of broken connections, also at poolers. */
const passingStates = /^(57P0[1-5]|53300|08...)$/;

/** What PgBouncer says, with one code for all that it has to say (08P01), of names that it does not know and settings that it does not take. */
const lastingMessages = /^(no such (database|user)|unsupported startup parameter|bouncer config error)/;

/** Whether the same settings may do later. */
function isPassing(error: unknown): boolean {
  const { message, code, errors } = error as Error & { readonly code?: string; readonly errors?: readonly unknown[] };
  if (errors !== undefined) return errors.every(isPassing);
  if (code === '08P01' && lastingMessages.test(message)) return false;
  if (code !== undefined) return networkCodes.has(code) || passingStates.test(code);
  // `pg`'s errors about timeouts and about servers that hang up have no code.
  return /timeout|Connection terminated/i.test(message);
}

/** What OpenSSL says of a certificate whose authority it does not know (https://nodejs.org/api/tls.html#x509-certificate-error-codes). */
const unknownAuthority =
  /^(UNABLE_TO_GET_ISSUER_CERT(_LOCALLY)?|UNABLE_TO_VERIFY_LEAF_SIGNATURE|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN)$/;

/** Several addresses that refuse become an error with no message of its own. */
function messageOf(error: unknown): string {
  const { message, code, errors } = error as Error & { code?: string; errors?: readonly Error[] };
  if (code !== undefined && unknownAuthority.test(code))
    return 'its certificate is signed by an unknown authority; add the certificate of that authority to the URL: sslrootcert=FILE';
  return errors?.map((each) => each.message).join(', ') || message || code || String(error);
}
