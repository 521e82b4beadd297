/**
 * All connections of a server's sockets, and how they end without losing a request in progress. In: the servers, from their start on, or the sockets of
 * servers of others as their requests come; out: the connection of a socket, and the end of all.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Admission, Share } from './admission.ts';
import { addressBlock } from './client-address.ts';
import { Connection, type ConnectionLimits, type ConnectionOwner } from './connection.ts';

/** Milliseconds between checks for clients that do not read. */
const lookInterval = 100;

export class Connections implements ConnectionOwner {
  readonly joinsHeaders: boolean;
  readonly #admission: Admission;
  readonly #limits: ConnectionLimits;
  readonly #bySocket = new Map<Socket, Connection>();
  readonly #servers: Server[] = [];
  #isClosing = false;
  #nextLook = 0;

  /** `joinsHeaders`: whether the servers join repeated headers (`joinDuplicateHeaders`), where Node drops some of them otherwise. */
  constructor(admission: Admission, limits: ConnectionLimits, joinsHeaders: boolean) {
    this.#admission = admission;
    this.joinsHeaders = joinsHeaders;
    this.#limits = limits;
    admission.onPressure = (share) => this.#endSlowReaders(share);
  }

  /** Whether connections must end with their next response. */
  get isClosing(): boolean {
    return this.#isClosing;
  }

  /** Must be called with each server of our own before it listens. */
  watch(server: Server): void {
    this.#servers.push(server);
    server.on('connection', (socket: Socket) => this.of(socket));
  }

  /** The connection of a socket. */
  of(socket: Socket): Connection {
    return this.#bySocket.get(socket) ?? this.#add(socket);
  }

  /**
   * Stops listening and waits for the requests in flight, but ends all connections that remain after `patience` milliseconds. Node ends those that are
   * idle between two requests, but not those that have never sent one, which browsers and proxies open in advance.
   */
  async close(patience: number): Promise<void> {
    this.#isClosing = true;
    const ends = this.#servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve())));
    for (const { socket } of this.#bySocket.values()) if (socket.bytesRead === 0) socket.destroy();
    const timer = setTimeout(() => {
      for (const { socket } of this.#bySocket.values()) socket.destroy();
    }, patience);
    await Promise.all(ends);
    clearTimeout(timer);
  }

  /** Ends the connections that read their responses too slowly. Checking all of them is expensive, so it is done at intervals. */
  #endSlowReaders(share: Share | null): void {
    const now = performance.now();
    if (now < this.#nextLook) return;
    this.#nextLook = now + lookInterval;
    for (const connection of this.#bySocket.values()) if (share === null || connection.share === share) connection.endIfSlow(now);
  }

  #add(socket: Socket): Connection {
    const share = this.#admission.refer(addressBlock(socket.remoteAddress ?? ''));
    const connection = new Connection(socket, share, this.#limits, this);
    this.#bySocket.set(socket, connection);
    socket.once('close', () => {
      this.#bySocket.delete(socket);
      connection.close();
      this.#admission.forget(share);
    });
    if (this.#isClosing) socket.destroy();
    return connection;
  }
}
