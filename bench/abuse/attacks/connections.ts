/** Attacks with connections, request heads and tokens. */
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { makeHostileExchange } from '../../../test/abuse/hostile-http.ts';
import { RandomSource } from '../../../test/property/random-source.ts';
import type { Attack } from '../attack.ts';
import type { Arena } from '../start-arena.ts';
import type { Tally } from '../tally.ts';
import { flood, pause } from './flood.ts';

function open(arena: Arena, tally: Tally): Socket {
  const socket = connect(arena.port, '127.0.0.1');
  socket.on('error', () => {});
  tally.sent += 1;
  return socket;
}

/** The bytes of a request. */
function bytesOf(arena: Arena, query: string, lines: readonly string[] = []): string {
  const body = JSON.stringify({ query });
  const head = ['POST /graphql/v1 HTTP/1.1', 'host: x', `apikey: ${arena.anon.apikey}`, 'content-type: application/json', ...lines];
  return `${head.join('\r\n')}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

/** Resolves when the connection has closed; at the signal, drops it. */
async function untilClosed(socket: Socket, until: AbortSignal): Promise<boolean> {
  const closed = new Promise<boolean>((resolve) => socket.once('close', () => resolve(!until.aborted)));
  const drop = (): void => void socket.destroy();
  if (until.aborted) drop();
  until.addEventListener('abort', drop);
  const byServer = await closed;
  until.removeEventListener('abort', drop);
  return byServer;
}

async function pipeline(arena: Arena, until: AbortSignal, tally: Tally): Promise<void> {
  const one = Buffer.from(bytesOf(arena, '{ accountByPk(id: 1) { email } }'));
  const piece = Buffer.concat(Array.from({ length: 1000 }, () => one));
  const socket = connect(arena.port, '127.0.0.1');
  socket.on('error', () => {});
  let rest = '';
  socket.setEncoding('latin1').on('data', (text: string) => {
    const parts = (rest + text).split('HTTP/1.1 ');
    for (const part of parts.slice(1)) tally.count(part.startsWith('200') ? 'ok' : `HTTP ${part.slice(0, 3)}`);
    rest = text.slice(-8).includes('HTTP') ? text.slice(text.lastIndexOf('HTTP')) : '';
  });
  for (let sent = 0; sent < 40; sent++) socket.write(piece);
  tally.sent += 40_000;
  await untilClosed(socket, until);
}

/** Opens many connections, each of which sends a little at a time. */
async function trickle(arena: Arena, until: AbortSignal, tally: Tally, text: string): Promise<void> {
  const one = async (): Promise<void> => {
    while (!until.aborted) {
      const socket = open(arena, tally);
      const talking = (async (): Promise<void> => {
        for (const character of text) {
          if (socket.destroyed || until.aborted) return;
          socket.write(character);
          await pause(until, 500);
        }
      })();
      if (await untilClosed(socket, until)) tally.count('closed by the server');
      await talking;
      await pause(until, 100);
    }
  };
  await Promise.all(Array.from({ length: 500 }, one));
}

async function readSlowly(arena: Arena, until: AbortSignal, tally: Tally): Promise<void> {
  const one = async (): Promise<void> => {
    while (!until.aborted) {
      const socket = open(arena, tally);
      socket.pause();
      socket.write(bytesOf(arena, '{ large(bytes: 8000000) }'));
      if (await untilClosed(socket, until)) tally.count('closed by the server');
      await pause(until, 100);
    }
  };
  await Promise.all(Array.from({ length: 100 }, one));
}

async function exchangeGarbage(arena: Arena, until: AbortSignal, tally: Tally): Promise<void> {
  const random = new RandomSource(13);
  const one = async (): Promise<void> => {
    while (!until.aborted) {
      const { pieces, leave } = makeHostileExchange(random, arena.anon.apikey ?? '');
      const socket = open(arena, tally);
      socket.on('data', (bytes: Buffer) => {
        for (const [, status] of bytes.toString('latin1').matchAll(/HTTP\/1\.1 (\d{3})/g)) tally.count(`HTTP ${status}`);
      });
      for (const piece of pieces) socket.write(piece, 'latin1');
      if (leave === 'half-closes') socket.end();
      if (leave === 'destroys') socket.destroy();
      if (leave === 'resets') socket.resetAndDestroy();
      const idle = setTimeout(() => socket.destroy(), 300);
      await untilClosed(socket, until);
      clearTimeout(idle);
    }
  };
  await Promise.all(Array.from({ length: 50 }, one));
}

/** The child processes of a process. */
function childrenOf(processId: number): number[] {
  return readFileSync(`/proc/${processId}/task/${processId}/children`, 'latin1').split(' ').filter(Boolean).map(Number);
}

/** Tokens that no issuer signed, of all sizes. */
function hostileAuthorization(random: RandomSource, key: string): Record<string, string> {
  const [head = '', payload = '', signature = ''] = key.split('.');
  const encode = (value: unknown): string => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
  const token = random.pick([
    'x',
    '..',
    'a.b.c',
    `${head}.${payload}.`,
    `${head}.${payload}.${signature.slice(0, -2)}`,
    `${encode({ alg: 'none' })}.${payload}.`,
    `${encode({ alg: 'HS256', crit: ['b64'], b64: false })}.${payload}.${signature}`,
    `${encode({ alg: 'RS256', jku: 'http://127.0.0.1:1/' })}.${payload}.${signature}`,
    `${head}.${encode({ role: 'postgres' })}.${signature}`,
    `${head}.${encode(`{"role":${'['.repeat(1500)}${']'.repeat(1500)}}`)}.${signature}`,
    `${head}.${'A'.repeat(random.integer(1, 6000))}.${signature}`,
    `${random.integer(0, 2 ** 31)}.${payload}.${signature}`,
  ]);
  return random.pick<Record<string, string>>([
    { apikey: token },
    { apikey: key, authorization: `Bearer ${token}` },
    { apikey: token, authorization: 'Basic x' },
    { apikey: key, authorization: `bearer  ${token}` },
    { apikey: key, authorization: 'Digest' },
    { authorization: `Bearer ${token}` },
  ]);
}

export const connectionAttacks: readonly Attack[] = [
  {
    name: 'invalid-key',
    title: 'no valid key and `Authorization: Basic x`, ten a second',
    run: (arena, until, tally) =>
      flood(arena, until, tally, {
        headers: { apikey: 'x', authorization: 'Basic x' },
        request: () => ({ query: '{ __typename }' }),
        perSecond: 10,
      }),
  },
  {
    name: 'invalid-key-workers',
    title: 'the same, with `--workers 2`',
    flags: ['--workers=2'],
    run: (arena, until, tally) =>
      flood(arena, until, tally, {
        headers: { apikey: 'x', authorization: 'Basic x' },
        request: () => ({ query: '{ __typename }' }),
        perSecond: 10,
      }),
  },
  {
    name: 'hostile-tokens',
    title: 'hostile tokens, twenty at a time',
    run: (arena, until, tally) => {
      const random = new RandomSource(13);
      const one = async (): Promise<void> => {
        while (!until.aborted)
          await flood(arena, AbortSignal.any([until, AbortSignal.timeout(50)]), tally, {
            headers: hostileAuthorization(random, arena.anon.apikey ?? ''),
            request: () => ({ query: '{ __typename }' }),
            atOnce: 1,
          });
      };
      return Promise.all(Array.from({ length: 20 }, one)).then(() => {});
    },
  },
  { name: 'pipelining', title: '40,000 requests on one connection, without waiting', run: pipeline },
  {
    name: 'pipelines',
    title: 'two thousand connections that send 1,000 requests without a key each, and read nothing',
    run: async (arena, until, tally) => {
      const requests = 'POST /graphql/v1 HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n'.repeat(1000);
      const one = async (): Promise<void> => {
        const socket = open(arena, tally);
        socket.pause();
        socket.write(requests);
        if (await untilClosed(socket, until)) tally.count('closed by the server');
      };
      await Promise.all(Array.from({ length: 2000 }, one));
    },
  },
  { name: 'slow-readers', title: 'a hundred clients that ask for 8 MB and read nothing', run: readSlowly },
  {
    name: 'slow-heads',
    title: 'five hundred clients that send a head by the character',
    run: (arena, until, tally) => trickle(arena, until, tally, bytesOf(arena, '{ __typename }')),
  },
  {
    name: 'slow-bodies',
    title: 'five hundred clients that send a body by the character',
    run: async (arena, until, tally) => {
      const whole = bytesOf(arena, `{ __typename }${' '.repeat(100)}`);
      const split = whole.indexOf('\r\n\r\n') + 4;
      const one = async (): Promise<void> => {
        while (!until.aborted) {
          const socket = open(arena, tally);
          socket.write(whole.slice(0, split));
          const talking = (async (): Promise<void> => {
            for (const character of whole.slice(split)) {
              if (socket.destroyed || until.aborted) return;
              socket.write(character);
              await pause(until, 500);
            }
          })();
          if (await untilClosed(socket, until)) tally.count('closed by the server');
          await talking;
        }
      };
      await Promise.all(Array.from({ length: 500 }, one));
    },
  },
  { name: 'garbage', title: 'random heads, bodies, pipelines and hang-ups, fifty at a time', run: exchangeGarbage },
  {
    name: 'metrics',
    title: '`/metrics` without a key, two hundred at a time',
    run: async (arena, until, tally) => {
      const one = async (): Promise<void> => {
        while (!until.aborted) {
          tally.sent += 1;
          const got = await fetch(new URL('/metrics', arena.url), { signal: until }).then(
            async (response) => `HTTP ${response.status} of ${Math.round((await response.text()).length / 1024)} KB`,
            () => 'left',
          );
          tally.count(got);
        }
      };
      await Promise.all(Array.from({ length: 200 }, one));
    },
  },
  {
    name: 'large-bodies',
    title: 'bodies of 1 MB that are no JSON, twenty at a time',
    run: (arena, until, tally) => flood(arena, until, tally, { request: () => '['.repeat(1_000_000), atOnce: 20 }),
  },
  {
    name: 'killed-worker',
    title: 'one of two workers killed every 3 s',
    flags: ['--workers=2'],
    run: async (arena, until, tally) => {
      const readers = flood(arena, until, tally, { request: () => ({ query: '{ accountByPk(id: 1) { id } }' }), atOnce: 10 });
      for (; !until.aborted; await pause(until, 3000)) {
        const [worker] = childrenOf(arena.serverProcess().pid ?? 0);
        if (worker === undefined) continue;
        process.kill(worker, 'SIGKILL');
        tally.count('workers killed');
      }
      await readers;
    },
  },
];
