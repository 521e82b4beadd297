/**
 * All connections of a server, which end without losing a request in progress. In: our own servers before they listen, or the sockets of
 * other servers as their requests come; out: the connection of a socket, and the end of all.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Admission, Share } from './admission.ts';
import { addressBlock, peerAddress } from './client-address.ts';
import { Connection, type ConnectionLimits, type ConnectionOwner } from './connection.ts';
import type { NodeExchange } from './node-exchange.ts';
import { RequestTurns } from './request-turns.ts';

/**
 * How many exchanges all connections may have at a time, each of which takes a few kilobytes. Beyond that, each connection has one or two:
 * what else it sends waits as it was read. Other servers than ours cannot make it wait, so they end such connections.
 */
const mostExchanges = 20_000;
/** Milliseconds that a head that is under way has to arrive when the server stops. */
const headPatience = 1000;
/** Milliseconds between checks for clients that do not read. */
const lookInterval = 100;

export class Connections implements ConnectionOwner {
  readonly joinsHeaders: boolean;
  readonly serve: (exchange: NodeExchange) => void;
  readonly admission: Admission;
  readonly #limits: ConnectionLimits;
  readonly #bySocket = new Map<Socket, Connection>();
  readonly #servers: Server[] = [];
  readonly #turns = new RequestTurns();
  exchanges = 0;
  #isClosing = false;
  #nextLook = 0;

  /**
   * `joinsHeaders`: whether the servers join repeated headers (`joinDuplicateHeaders`); otherwise Node drops some of them. `serve`: called
   * with each exchange when it is its turn.
   */
  constructor(admission: Admission, limits: ConnectionLimits, joinsHeaders: boolean, serve: (exchange: NodeExchange) => void) {
    this.admission = admission;
    this.joinsHeaders = joinsHeaders;
    this.serve = serve;
    this.#limits = limits;
    admission.onPressure = (share) => this.#endSlowReaders(share);
  }

  /** Whether connections must end with their next response. */
  get isClosing(): boolean {
    return this.#isClosing;
  }

  get isFull(): boolean {
    return this.exchanges >= mostExchanges;
  }

  get turns(): RequestTurns | null {
    return this.#servers.length > 0 ? this.#turns : null;
  }

  /** Must be called with each of our own servers before it listens. */
  watch(server: Server): void {
    this.#servers.push(server);
    server.on('connection', (socket: Socket) => this.of(socket).guardParser());
  }

  /** The connection of a socket. */
  of(socket: Socket): Connection {
    return this.#bySocket.get(socket) ?? this.#add(socket);
  }

  /**
   * Stops listening and waits for the requests in flight, but ends all remaining connections after `patience` milliseconds. Node itself
   * ends connections that are idle between two requests, but not those that never sent one, such as the connections that browsers and
   * proxies open in advance, nor those that sent a part of a head. Few clients take longer than a second for the rest of it.
   */
  async close(patience: number): Promise<void> {
    this.#isClosing = true;
    const ends = this.#servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve())));
    for (const { socket } of this.#bySocket.values()) if (socket.bytesRead === 0) socket.destroy();
    const endAfter = (millis: number, isOver: (connection: Connection) => boolean): NodeJS.Timeout =>
      setTimeout(() => {
        for (const connection of this.#bySocket.values()) if (isOver(connection)) connection.socket.destroy();
      }, millis);
    const timers = [endAfter(headPatience, ({ isIdle }) => isIdle), endAfter(patience, () => true)];
    await Promise.all(ends);
    for (const timer of timers) clearTimeout(timer);
  }

  /** Ends the connections that read their responses too slowly. Checking all of them is expensive, so it is done at intervals. */
  #endSlowReaders(share: Share | null): void {
    const now = performance.now();
    if (now < this.#nextLook) return;
    this.#nextLook = now + lookInterval;
    for (const connection of this.#bySocket.values()) if (share === null || connection.share === share) connection.endIfSlow(now);
  }

  #add(socket: Socket): Connection {
    const share = this.admission.refer(addressBlock(peerAddress(socket)));
    const connection = new Connection(socket, share, this.#limits, this);
    // A framework may have hesitated until it closed.
    if (socket.closed) {
      this.admission.forget(share);
      return connection;
    }
    this.#bySocket.set(socket, connection);
    socket.once('close', () => {
      this.#bySocket.delete(socket);
      connection.close();
      this.admission.forget(share);
    });
    if (this.#isClosing) socket.destroy();
    return connection;
  }
}
