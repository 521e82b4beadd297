/**
 * Serves a request that Node hands over as an Upgrade, together with what follows it, as any other. It may have asked for another protocol:
 * RFC 9110, section 7.8, allows to ignore that. Node does so too if it is left to it, but loses what follows the request in the same packet: a
 * request goes missing, or its body is taken for another request. Or it had to wait (`connection.ts`). In: what Node hands over; out: the same
 * connection, handed back to the server.
 */
import type { IncomingMessage, Server } from 'node:http';
import type { Connection } from './connection.ts';

/**
 * Puts the request back at the start of the connection's input, without its Upgrade header, and lets the server begin anew with the
 * connection. `rest` is what has been read after the headers. The headers must be complete, because they tell where the
 * body ends.
 */
export function ignoreUpgrade(server: Server, connection: Connection, request: IncomingMessage, rest: Buffer): void {
  // The socket may buffer as much again.
  connection.takeOver(2 * rest.length, () => {
    const { socket } = connection;
    // It may be the idle time after the last response.
    socket.setTimeout(0);
    if (rest.length > 0) socket.unshift(rest);
    socket.unshift(writeHead(request));
    server.emit('connection', socket);
    socket.resume();
  });
}

/** Never longer than what was received, so that it is not too large. */
function writeHead({ method, url, httpVersion, rawHeaders }: IncomingMessage): Buffer {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!;
    if (name.toLowerCase() !== 'upgrade') lines.push(`${name}:${rawHeaders[index + 1]}`);
  }
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}
