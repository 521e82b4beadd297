/** Starts the HTTP server. In: a graph and the settings; out: where it listens, and how to stop it. */
import type { AddressInfo } from 'node:net';
import { createCloser } from './close-server.ts';
import { createApp } from './create-app.ts';
import { createTelemetry } from './create-telemetry.ts';
import type { ServerOptions } from './server-options.ts';

export interface RunningServer {
  /** `http://host:port`, without the base path. */
  readonly url: string;
  readonly port: number;
  /** Accepts no more connections, lets the requests in flight finish within a limit, then ends. The graph stays open. */
  close(): Promise<void>;
}

/** Starts the server; resolves once it listens. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { host = '127.0.0.1', port = 0, closeMilliseconds = 10_000, telemetry = createTelemetry() } = options;
  const closer = createCloser();
  const app = await createApp(options, telemetry, closer);
  await app.listen({ host, port });
  const address = app.server.address() as AddressInfo;
  const url = `http://${nameHost(host)}:${address.port}`;
  telemetry.observe({ kind: 'server-started', url });

  const stop = async (): Promise<void> => {
    telemetry.observe({ kind: 'server-stopping' });
    await closer.close(() => app.close(), closeMilliseconds);
    telemetry.observe({ kind: 'server-stopped' });
  };
  let stopped: Promise<void> | undefined;
  const close = (): Promise<void> => {
    stopped ??= stop();
    return stopped;
  };
  return { url, port: address.port, close };
}

/** A host as a URL has it; a server that listens on every address is reached at this machine's own. */
function nameHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}
