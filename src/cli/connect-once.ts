/** A PostgreSQL connection for a single task of a command. A failure becomes one line that says what to change. */
import type { Client } from 'pg';
import { CommandError } from './command-error.ts';

/** The database cannot be reached, is starting or stopping, or has no free connection: changing settings would not help. */
export class UnreachableError extends CommandError {
  constructor(message: string, cause: unknown) {
    super(message, 1, cause);
    this.name = 'UnreachableError';
  }

  /** Whether PostgreSQL refused the connection because there are too many. */
  get hasTooManyConnections(): boolean {
    return (this.cause as { readonly code?: unknown } | undefined)?.code === '53300';
  }
}

/** The database has been reached, but its schema cannot be loaded now: that takes too long, or has no connection. */
export class SlowSchemaError extends UnreachableError {}

/**
 * Connects, does some work, and disconnects. `patience` limits connecting and each query, in milliseconds. Rejects with a `CommandError`:
 * with exit code 2 if the settings are wrong, or with `UnreachableError` if the same settings may work later.
 */
export async function connectOnce<T>(databaseUrl: string, work: (client: Client) => Promise<T>, patience = 10_000): Promise<T> {
  const client = await makeClient(databaseUrl, patience);
  // A connection that fails later does not matter here, but without a listener it would end the process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await work(client);
  } catch (error) {
    if (error instanceof CommandError) throw error;
    const message = describeFailure(databaseUrl, error);
    throw isPassing(error) ? new UnreachableError(message, error) : new CommandError(message, 2, error);
  } finally {
    // An unresponsive server never confirms the end.
    void client.end().catch(() => undefined);
  }
}

/** `pg` reads the URL and the files that it names, such as `sslrootcert`. Errors in them are permanent. */
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

/** Network errors of a server that is not running, or not yet. */
const networkCodes: ReadonlySet<string> = new Set(
  'ECONNREFUSED ECONNRESET ECONNABORTED EPIPE ENOTFOUND EAI_AGAIN EAI_FAIL ETIMEDOUT EHOSTUNREACH EHOSTDOWN ENETUNREACH ENETDOWN ENOENT'.split(
    ' ',
  ),
);
/**
 * States of a server that is starting, stopping or recovering, or has no connection to spare; class 08 is for broken connections, including
 * those of poolers.
 */
const passingStates = /^(57P0[1-5]|53300|08...)$/;

/** PgBouncer's messages about unknown names and unsupported settings. It reports all of its errors with one code (08P01). */
const permanentMessages = /^(no such (database|user)|unsupported startup parameter|bouncer config error)/;

/** Whether the same settings may work later. */
function isPassing(error: unknown): boolean {
  const { message, code, errors } = error as Error & { readonly code?: string; readonly errors?: readonly unknown[] };
  if (errors !== undefined) return errors.every(isPassing);
  if (code === '08P01' && permanentMessages.test(message)) return false;
  if (code !== undefined) return networkCodes.has(code) || passingStates.test(code);
  // `pg`'s errors about timeouts and about servers that hang up have no code.
  return /timeout|Connection terminated/i.test(message);
}

/**
 * OpenSSL's error codes for a certificate whose authority it does not know (https://nodejs.org/api/tls.html#x509-certificate-error-codes).
 */
const unknownAuthority =
  /^(UNABLE_TO_GET_ISSUER_CERT(_LOCALLY)?|UNABLE_TO_VERIFY_LEAF_SIGNATURE|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN)$/;

/** If several addresses refuse the connection, the error has no message of its own. */
function messageOf(error: unknown): string {
  const { message, code, errors } = error as Error & { code?: string; errors?: readonly Error[] };
  if (code !== undefined && unknownAuthority.test(code))
    return 'its certificate is signed by an unknown authority; add the certificate of that authority to the URL: sslrootcert=FILE';
  return errors?.map((each) => each.message).join(', ') || message || code || String(error);
}
