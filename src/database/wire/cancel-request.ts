/**
 * Asks PostgreSQL to cancel what a connection is running (https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-CANCELING-REQUESTS):
 * over a separate connection, because the first one is busy.
 *
 * Relies on undocumented fields of `pg`'s Client and Connection (`test/contracts/pg.test.ts`).
 */
import { Connection } from 'pg';

/** What this file uses of a `pg.Client`. */
export interface CancellableClient {
  readonly host?: string;
  readonly port?: number;
  readonly ssl?: unknown;
  /** Absent from older versions of `pg`. */
  readonly sslNegotiation?: 'postgres' | 'direct';
  readonly processID?: number | null;
  readonly secretKey?: number | null;
}

/** What this file uses of `pg`'s Connection. */
interface CancelConnection {
  readonly stream: { destroy(): void };
  connect(port: number, host: string): void;
  requestSsl(): void;
  cancel(processId: number, secretKey: number): void;
  once(event: 'connect' | 'sslconnect' | 'error' | 'end', listener: () => void): unknown;
  on(event: 'error', listener: () => void): unknown;
}

/**
 * `delivered`: the server has signalled the backend and closed the connection, so that nothing sent to the backend from now on is
 * cancelled. `unreachable`: the server did not respond in time. `unsupported`: the connection does not say which backend it is.
 */
export type CancelOutcome = 'delivered' | 'unreachable' | 'unsupported';

/**
 * Sends a cancel request and waits for the server to receive it. Never rejects. `stream` is the option of that name that the client was
 * opened with: a function that opens its sockets. A socket that was passed instead cannot be opened twice.
 */
export function sendCancelRequest(client: CancellableClient, timeoutMillis: number, stream?: unknown): Promise<CancelOutcome> {
  const { host, port, ssl, sslNegotiation, processID, secretKey } = client;
  if (host === undefined || port === undefined || typeof processID !== 'number' || typeof secretKey !== 'number') {
    return Promise.resolve('unsupported');
  }
  if (stream && typeof stream !== 'function') return Promise.resolve('unsupported');
  let connection: CancelConnection;
  try {
    connection = new Connection({ ssl, sslNegotiation, stream } as never) as unknown as CancelConnection;
  } catch {
    return Promise.resolve('unreachable');
  }
  return new Promise((resolve) => {
    let isSent = false;
    const timer = setTimeout(() => finish('unreachable'), timeoutMillis);
    const finish = (outcome: CancelOutcome): void => {
      clearTimeout(timer);
      connection.stream.destroy();
      resolve(outcome);
    };
    if (ssl && sslNegotiation !== 'direct') connection.once('connect', () => connection.requestSsl());
    connection.once(ssl ? 'sslconnect' : 'connect', () => {
      isSent = true;
      connection.cancel(processID, secretKey);
    });
    connection.on('error', () => finish('unreachable'));
    connection.once('end', () => finish(isSent ? 'delivered' : 'unreachable'));
    if (host.startsWith('/')) connection.connect(`${host}/.s.PGSQL.${port}` as never, undefined as never);
    else connection.connect(port, host);
  });
}
