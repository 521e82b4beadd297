/**
 * What the processes of several servers share through Redis or Valkey: how many requests each address has sent, and the documents that
 * clients have stored. Nobody waits long for it: while it fails or is slow, each process goes on with what it knows itself.
 */
import type { RedisClientType } from '@redis/client';
import type { Observer } from '../events.ts';
import type { RequestWindow, SharedWindows } from './admission/request-rate.ts';
import type { SharedDocuments } from './documents/persisted-queries.ts';

/** In milliseconds: how long a request waits for an answer. */
const patience = 250;
/** In milliseconds: after a failure, nobody asks for so long. */
const pause = 1000;
/** In milliseconds. */
const connectTimeout = 5000;
/** More than this many unanswered commands fail at once. */
const mostCommands = 10_000;

/** In seconds: how long a document is kept after it was last asked for. */
const documentLife = 30 * 24 * 3600;
/** In seconds: the time in which a client may store as many bytes as a process lets it. */
const ownerLife = 24 * 3600;

const countScript = `
  local count = redis.call('incrby', KEYS[1], ARGV[1])
  local left = redis.call('pttl', KEYS[1])
  if left < 0 then
    redis.call('pexpire', KEYS[1], ARGV[2])
    left = tonumber(ARGV[2])
  end
  return {count, left}`;

const storeScript = `
  if redis.call('expire', KEYS[1], ARGV[4]) == 1 then return 0 end
  local owned = redis.call('incrby', KEYS[2], ARGV[2])
  if owned == tonumber(ARGV[2]) then redis.call('expire', KEYS[2], ARGV[5]) end
  if owned > tonumber(ARGV[3]) then
    redis.call('decrby', KEYS[2], ARGV[2])
    return 0
  end
  redis.call('set', KEYS[1], ARGV[1], 'EX', ARGV[4])
  return 1`;

export class RedisStore implements SharedWindows {
  readonly #url: string;
  readonly #observe: Observer;
  /** Null until it is needed, and after a failure: the next one may reach another server. */
  #client: Promise<RedisClientType> | null = null;
  #pausedUntil = 0;

  /** Connects when it is asked. Does not keep the process running. */
  constructor(url: string, observe: Observer) {
    this.#url = url;
    this.#observe = observe;
  }

  async countRequests(address: string, requests: number, windowMilliseconds: number): Promise<RequestWindow | null> {
    const keys = [`rowgraph:rate:${address}`];
    const counted = await this.#ask((client) =>
      client.eval(countScript, { keys, arguments: [String(requests), String(windowMilliseconds)] }),
    );
    if (counted === null) return null;
    const [count, left] = counted as [number, number];
    return { count, endsAt: performance.now() + left };
  }

  /** Documents of the requests to one endpoint. */
  documentsOf(endpoint: string): SharedDocuments {
    const prefix = `rowgraph:document:${endpoint}`;
    return {
      read: (hash) => this.#ask((client) => client.getEx(`${prefix}:${hash}`, { type: 'EX', value: documentLife })),
      write: ({ hash, text, owner, bytes, mostOwned }) => {
        const keys = [`${prefix}:${hash}`, `${prefix} of:${owner}`];
        const values = [text, String(bytes), String(mostOwned), String(documentLife), String(ownerLife)];
        void this.#ask((client) => client.eval(storeScript, { keys, arguments: values }));
      },
    };
  }

  /** Null if there is no answer in time. Never rejects. */
  async #ask<Answer>(command: (client: RedisClientType) => Promise<Answer>): Promise<Answer | null> {
    if (performance.now() < this.#pausedUntil) return null;
    this.#client ??= openClient(this.#url);
    const client = this.#client;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new Error(`no answer within ${patience} ms`)), patience);
    });
    try {
      return await Promise.race([client.then(command), late]);
    } catch (error) {
      if (this.#client === client) this.#leave(client, error);
      return null;
    } finally {
      clearTimeout(timer);
    }
  }

  #leave(client: Promise<RedisClientType>, error: unknown): void {
    this.#client = null;
    this.#pausedUntil = performance.now() + pause;
    this.#observe({ kind: 'shared-store-failed', error });
    client.then(
      (opened) => opened.destroy(),
      () => {},
    );
  }
}

/** Loads the client only where it is used. */
async function openClient(url: string): Promise<RedisClientType> {
  const { createClient } = await import('@redis/client');
  const socket = { connectTimeout, reconnectStrategy: false } as const;
  const client: RedisClientType = createClient({ url, socket, commandsQueueMaxLength: mostCommands });
  // Whoever asks next finds out.
  client.on('error', () => {});
  await client.connect();
  client.unref();
  return client;
}
