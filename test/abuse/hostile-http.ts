/** Bytes that no proper client sends, and ways to send them. In: random choices and a key; out: what to write, and what the client does afterwards. */
import type { RandomSource } from '../property/random-source.ts';

export interface HostileExchange {
  /** What is written, one piece after the other. */
  readonly pieces: readonly string[];
  /** How the client leaves: it waits until the server ends the connection, ends its own side, or drops the connection in the middle. */
  readonly leave: 'waits' | 'half-closes' | 'destroys' | 'resets';
}

const methods = ['POST', 'GET', 'PUT', 'OPTIONS', 'CONNECT', 'PRI', 'QUERY', 'post', 'TRACE', 'P\0ST', 'BREW', ''];
const targets = [
  '/graphql/v1',
  '/graphql/v1?x=1',
  '/graphql/v1/',
  '/health/live',
  '/health/ready',
  '/metrics',
  '/graphiql',
  '*',
  '/',
  '/%',
  '/%2e%2e/%00',
  'http://example.org/graphql/v1',
  'http://[::1/graphql/v1',
  'example.org:443',
  `/${'a'.repeat(9000)}`,
  '/\u00ff',
  '//graphql/v1',
  '',
];
const versions = ['HTTP/1.1', 'HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0', 'HTTP/0.9', 'HTTP/1.', 'ICY'];
const bodies = [
  '{"query":"{ a }"}',
  '{"query":"{ a }"}',
  '',
  '{',
  'null',
  '[]',
  '\ufeff{"query":"{ a }"}',
  '{"query":"{ a }","variables":{"__proto__":{}}}',
  `{"query":"${'{ a '.repeat(3000)}"}`,
  `{"query":"{ a }","variables":{"x":${'['.repeat(5000)}${']'.repeat(5000)}}}`,
  'x'.repeat(70_000),
  '{"query":"\xff\xfe"}',
];

/** A hostile exchange. The key is a good one. */
export function makeHostileExchange(random: RandomSource, key: string): HostileExchange {
  const count = random.chance(0.2) ? random.integer(2, 60) : 1;
  const text = Array.from({ length: count }, () => makeRequest(random, key)).join('');
  const cut = random.chance(0.2) ? text.slice(0, random.integer(0, text.length)) : text;
  return { pieces: split(random, cut), leave: random.pick(['waits', 'half-closes', 'destroys', 'resets']) };
}

function makeRequest(random: RandomSource, key: string): string {
  if (random.chance(0.05))
    return random.pick([
      '\r\n\r\n',
      '\0'.repeat(50),
      'GET /\r\n\r\n',
      '\x16\x03\x01\x02\x00\x01\x00\x01\xfc',
      'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    ]);
  const isPlain = random.chance(0.7);
  const line = isPlain ? 'POST /graphql/v1 HTTP/1.1' : `${random.pick(methods)} ${random.pick(targets)} ${random.pick(versions)}`;
  const body = random.chance(0.5) ? '{"query":"{ a }"}' : random.pick(bodies);
  const headers = [...makeHeaders(random, key), ...makeFraming(random, body)];
  const lines = random.chance(0.3) ? random.shuffled(headers) : headers;
  return `${line}\r\n${lines.join('\r\n')}\r\n\r\n${headers.at(-1)?.startsWith('transfer-encoding') ? chunk(random, body) : body}`;
}

function makeHeaders(random: RandomSource, key: string): string[] {
  const usual = ['host: x', `apikey: ${key}`, 'content-type: application/json'];
  const unusual = [
    `apikey: ${key}`,
    'apikey: x',
    `apikey: ${'x'.repeat(15_000)}`,
    'authorization: Basic x',
    'authorization: Bearer a.b.c',
    'Authorization: Bearer',
    'content-type: text/plain',
    'content-encoding: gzip',
    'accept: text/html',
    'accept: \u00fc;q=9',
    `accept-encoding: ${'gzip;q=0.1,'.repeat(500)}*;q=0`,
    'accept-encoding: identity;q=0',
    'expect: 100-continue',
    'expect: 200-ok',
    'prefer: wait=0.001',
    'prefer: wait=0.05',
    'prefer: wait=99999999999999999999',
    'x-request-id: a b\u0000c',
    'x-forwarded-for: 1.2.3.4, "\u00ff"',
    'origin: https://app.example',
    'access-control-request-method: POST',
    'access-control-request-headers: \u00ff\u00fe',
    'connection: close',
    'connection: upgrade',
    'upgrade: websocket',
    'host: y',
    'host:',
    ' folded: line',
    'no colon',
    'x\0y: z',
    ...Array.from({ length: 3 }, (_, index) => `x-${index}: ${'y'.repeat(7000)}`),
  ];
  return [...random.subset(usual, 0.97), ...(random.chance(0.3) ? random.sample(unusual, random.integer(1, 4)) : [])];
}

/** How the length of the body is said, in most cases rightly. */
function makeFraming(random: RandomSource, body: string): string[] {
  const length = Buffer.byteLength(body, 'latin1');
  if (random.chance(0.7)) return [`content-length: ${length}`];
  if (random.chance(0.6)) return ['transfer-encoding: chunked'];
  const wrong = [
    `content-length: ${length + 5}`,
    'content-length: 99999999999',
    'content-length: -1',
    'content-length: 1e3',
    'content-length: 1, 2',
  ];
  return random.pick([
    [random.pick(wrong)],
    [`content-length: ${length}`, `content-length: ${length + 1}`],
    ['content-length: 3', 'transfer-encoding: chunked'],
    [],
  ]);
}

function chunk(random: RandomSource, body: string): string {
  const size = random.chance(0.7)
    ? body.length.toString(16)
    : random.pick(['zz', '-1', 'fffffffffffffffff', '', '0x10', `1;${'x'.repeat(20_000)}`]);
  return `${size}\r\n${body}\r\n${random.chance(0.8) ? '0\r\n\r\n' : ''}`;
}

function split(random: RandomSource, text: string): readonly string[] {
  if (random.chance(0.6)) return [text];
  const places = Array.from({ length: random.integer(1, 5) }, () => random.integer(0, text.length)).sort((first, second) => first - second);
  return [0, ...places].map((place, index) => text.slice(place, places[index] ?? text.length));
}
