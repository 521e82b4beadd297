/**
 * Ends servers without losing a request that they have begun to answer. In: the servers, from their start on; out: their end.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

export interface Closer {
  /** To be told of each server before it listens. */
  watch(server: Server): void;
  isClosing(): boolean;
  /** Runs `end`, which stops listening and waits for all connections, and cuts off those that are left after `patience` milliseconds. */
  close(end: () => Promise<void>, patience: number): Promise<void>;
}

/**
 * Node ends connections that are idle between two requests, but not those that have never sent one, as browsers and proxies open them ahead
 * of need. They would hold up the end until patience runs out, so connections are kept track of here.
 */
export function createCloser(): Closer {
  const servers: Server[] = [];
  const sockets = new Set<Socket>();
  let closing = false;
  return {
    watch(server) {
      servers.push(server);
      server.on('connection', (socket) => {
        if (closing) socket.destroy();
        sockets.add(socket);
        socket.once('close', () => sockets.delete(socket));
      });
    },
    isClosing: () => closing,
    async close(end, patience) {
      closing = true;
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
      const timer = setTimeout(() => {
        for (const server of servers) server.closeAllConnections();
      }, patience);
      await end();
      clearTimeout(timer);
    },
  };
}
