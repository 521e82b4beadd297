/**
 * A TCP proxy in front of a PostgreSQL server that cuts the connection of one batch at a chosen point or holds it back, and can be down for
 * a while as if the server were.
 */
import { createServer, type Server, type Socket } from 'node:net';
import { listenOnLoopback, ProxiedConnections } from './proxied-connections.ts';

/**
 * Where a batch is cut: before any of it is sent; after half of it; after all but its Sync; or after the server has answered all of it,
 * when the client has received nothing or half of the response.
 */
export type CutPoint = 'before it' | 'in the middle' | 'before its Sync' | 'before the response' | 'in the response';

/** The error of a server that accepts no connections. */
export interface Refusal {
  readonly sqlstate: string;
  readonly message: string;
}

export interface FaultProxy {
  readonly port: number;
  /**
   * Cuts the next batch that contains this text. If its response is cut, only once `meanwhile` has resolved; until then the client receives
   * nothing.
   */
  cutNext(holding: string, point: CutPoint, meanwhile?: Promise<unknown>): void;
  /** Refuses the next batches that contain this text, as a pooler does that does not reach the server, and ends their connections. */
  refuseNext(holding: string, times: number): void;
  /** Holds the next batch that contains this text back until it is released. */
  holdNext(holding: string): HeldBatch;
  /** How many batches with this text have passed. */
  count(holding: string): number;
  /** Cuts every connection and accepts no more. */
  goDown(): Promise<void>;
  /** Accepts connections again; or closes each at once, or rejects each with an error as a starting server does. */
  comeBack(how?: 'serving' | 'refusing' | Refusal): Promise<void>;
  /** How many connections it has rejected. */
  readonly refusals: number;
  stop(): Promise<void>;
}

export interface HeldBatch {
  /** Resolves when the batch has come. */
  readonly came: Promise<void>;
  release(): void;
}

const syncLength = 5;
const poolersRefusal: Refusal = { sqlstate: '08P01', message: 'server login has been failing, try again later (server_login_retry)' };

/** Starts a proxy on a free port of loopback. */
export async function startFaultProxy(serverPort: number): Promise<FaultProxy> {
  const connections = new ProxiedConnections(serverPort);
  const batches: Buffer[] = [];
  let planned: { readonly holding: string; readonly point: CutPoint; readonly meanwhile: Promise<unknown> | undefined } | null = null;
  const takeCut = (bytes: Buffer): typeof planned => {
    if (planned === null || !bytes.includes(planned.holding)) return null;
    const cut = planned;
    planned = null;
    return cut;
  };
  let refused = { holding: '', times: 0 };
  const holds = new Holds();
  const serve = (client: Socket): void => {
    const server = connections.join(client);
    let answerCut: typeof planned = null;
    client.on('data', (bytes: Buffer) => {
      if (refused.times > 0 && bytes.includes(refused.holding)) {
        refused.times -= 1;
        return void client.end(errorResponse(poolersRefusal));
      }
      batches.push(bytes);
      const released = holds.take(bytes);
      if (released !== null) return void released.then(() => server.write(bytes));
      const cut = takeCut(bytes);
      const point = cut?.point;
      if (point === 'before it') return void client.destroy();
      if (point === 'in the middle') return void server.end(bytes.subarray(0, bytes.length >> 1), () => client.destroy());
      if (point === 'before its Sync') return void server.end(bytes.subarray(0, -syncLength), () => client.destroy());
      answerCut = cut;
      server.write(bytes);
    });
    server.on('data', (bytes: Buffer) => {
      if (answerCut === null) return void client.write(bytes);
      // ReadyForQuery at the end of the response says that no transaction is open.
      const isOver = bytes.at(-6) === 0x5a;
      if (answerCut.point === 'in the response') client.write(bytes.subarray(0, bytes.length >> 1));
      if (!isOver) return;
      if (answerCut.meanwhile === undefined) client.destroy();
      else void answerCut.meanwhile.then(() => client.destroy());
    });
  };
  let refusals = 0;
  const refuse = (client: Socket, refusal: Refusal | null): void => {
    refusals += 1;
    if (refusal === null) return void client.destroy();
    client.on('error', () => {});
    client.once('data', () => client.end(errorResponse(refusal)));
  };
  const start = (accept: (client: Socket) => void): Server => createServer({ noDelay: true }, accept);
  let listener = start(serve);
  const port = await listenOnLoopback(listener);
  const goDown = (): Promise<void> => connections.close(listener);
  return {
    port,
    cutNext: (holding, point, meanwhile) => {
      planned = { holding, point, meanwhile };
    },
    refuseNext: (holding, times) => {
      refused = { holding, times };
    },
    holdNext: (holding) => holds.plan(holding),
    count: (holding) => batches.filter((bytes) => bytes.includes(holding)).length,
    goDown,
    comeBack: async (how = 'serving') => {
      if (listener.listening) await goDown();
      listener = start(how === 'serving' ? serve : (client) => refuse(client, how === 'refusing' ? null : how));
      await listenOnLoopback(listener, port);
    },
    get refusals() {
      return refusals;
    },
    stop: goDown,
  };
}

/** The batches that are to be held back. */
class Holds {
  readonly #planned: { readonly holding: string; readonly come: () => void; readonly released: Promise<void> }[] = [];

  plan(holding: string): HeldBatch {
    const came = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    this.#planned.push({ holding, come: came.resolve, released: released.promise });
    return { came: came.promise, release: released.resolve };
  }

  /** What to wait for before these bytes are passed on; null for nothing. */
  take(bytes: Buffer): Promise<void> | null {
    const index = this.#planned.findIndex(({ holding }) => bytes.includes(holding));
    if (index === -1) return null;
    const [hold] = this.#planned.splice(index, 1);
    hold?.come();
    return hold?.released ?? null;
  }
}

/** The message that ends a connection before it is established (manual: Message Formats, ErrorResponse). */
function errorResponse({ sqlstate, message }: Refusal): Buffer {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${sqlstate}\0M${message}\0\0`);
  const head = Buffer.from('E\0\0\0\0', 'latin1');
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
}
