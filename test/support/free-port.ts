/** Finds a free port, for servers that must be given one. */
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ephemeral ports, which systems assign themselves: so nobody else is likely to take the port before the server does. */
const [first, last] = [10_240, 32_767];
const mostAttempts = 100;

/** Rejects if there is none. */
export async function freePort(address = '127.0.0.1'): Promise<number> {
  for (let attempt = 1; ; attempt += 1) {
    const port = first + Math.floor(Math.random() * (last - first + 1));
    const probe = createServer();
    try {
      probe.listen(port, address);
      await once(probe, 'listening');
      probe.close();
      await once(probe, 'close');
      return port;
    } catch (error) {
      if (attempt === mostAttempts) throw error;
    }
  }
}
