/**
 * All connections of a server, which end without losing a request in progress. In: our own servers before they listen, or the sockets of
 * other servers as their requests come; out: the connection of a socket, and the end of all.
 *
 * Relies on Node beyond its documentation (`test/contracts/node.test.ts`): the `close` of a plain server, called on an HTTP server, leaves idle
 * connections open.
 */
import type { Server } from 'node:http';
import { Server as PlainServer, type Socket } from 'node:net';
import type { Admission, Share } from '../admission/admission.ts';
import { addressBlock, peerAddress } from '../admission/client-address.ts';
import { RequestTurns } from '../admission/request-turns.ts';
import { Connection, type ConnectionLimits, type ConnectionOwner } from './connection.ts';
import type { NodeExchange } from './node-exchange.ts';

/**
 * How many exchanges all connections may have at a time, each of which takes a few kilobytes. Beyond that, each connection has one or two:
 * what else it sends waits as it was read. Other servers than ours cannot make it wait, so they end such connections.
 */
const mostExchanges = 20_000;
/** Milliseconds that a connection stays open without a request when the server stops: a request may be on its way. */
const idlePatience = 100;
/** The same for a head that is under way. */
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
  #isEnding = false;
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
  get isEnding(): boolean {
    return this.#isEnding;
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

  /** From now on each connection ends with its next response, which says so: clients open their next one to another server. */
  endWithResponses(): void {
    this.#isEnding = true;
  }

  /**
   * Stops listening and waits for the requests in flight and those that are on their way, but ends all remaining connections after `patience`
   * milliseconds. Few clients take longer than a second for the rest of a head.
   */
  async close(patience: number): Promise<void> {
    this.#isEnding = true;
    this.#isClosing = true;
    const ends = this.#servers.map((server) => new Promise<void>((resolve) => PlainServer.prototype.close.call(server, () => resolve())));
    const after = (millis: number, end: () => void): NodeJS.Timeout =>
      // What has arrived meanwhile is read first.
      setTimeout(() => setImmediate(end), millis);
    const endThose = (isOver: (connection: Connection) => boolean): void => {
      for (const connection of this.#bySocket.values()) if (isOver(connection)) connection.socket.destroy();
    };
    const timers = [
      after(Math.min(idlePatience, patience), () => this.#endIdle()),
      after(headPatience, () => endThose(({ isIdle }) => isIdle)),
      after(patience, () => endThose(() => true)),
    ];
    await Promise.all(ends);
    for (const timer of timers) clearTimeout(timer);
    // Ends what Node does for servers that listen, too.
    for (const server of this.#servers) server.close(() => undefined);
  }

  /** Ends the connections between two requests, and those that never sent one, such as those that browsers and proxies open in advance. */
  #endIdle(): void {
    for (const server of this.#servers) server.closeIdleConnections();
    for (const { socket } of this.#bySocket.values()) if (socket.bytesRead === 0) socket.destroy();
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
