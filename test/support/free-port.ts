/** A port that nobody listens on, for servers that have to be told one. */
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ports that systems give out themselves, to whoever listens on port 0 or connects: so nobody else takes it by chance before the server does. */
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
