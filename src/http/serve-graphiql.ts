/** Serves GraphiQL from the files of its npm package. In: where, and for which endpoint; out: routes of the page and its assets. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  type GraphiqlSettings,
  graphiqlPageScript,
  graphiqlPageStyle,
  graphiqlSecurityPolicy,
  renderGraphiqlPage,
} from './graphiql-page.ts';

const compress = promisify(gzip);
const { resolve } = createRequire(import.meta.url);

function readPackageFile(packageName: string, path: string): () => Promise<Buffer> {
  return () => readFile(join(dirname(resolve(`${packageName}/package.json`)), path));
}

/** These packages ship bundles that run in a browser as they are: no build, no module loader, no other origin. */
const assets = {
  'graphiql.js': { type: 'text/javascript', read: readPackageFile('graphiql', 'dist/index.umd.js') },
  'graphiql.css': { type: 'text/css', read: readPackageFile('graphiql', 'dist/style.css') },
  'react.js': { type: 'text/javascript', read: readPackageFile('react', 'umd/react.production.min.js') },
  'react-dom.js': { type: 'text/javascript', read: readPackageFile('react-dom', 'umd/react-dom.production.min.js') },
  'page.js': { type: 'text/javascript', read: async () => Buffer.from(graphiqlPageScript) },
  'page.css': { type: 'text/css', read: async () => Buffer.from(graphiqlPageStyle) },
};

/** Adds the page at `path` and its assets below it. */
export function serveGraphiql(app: FastifyInstance, path: string, settings: GraphiqlSettings): void {
  const page = renderGraphiqlPage(path, settings);
  const options = { config: { cors: false } };
  app.get(path, options, async (_request, reply) => {
    setHeaders(reply, 'text/html', 'no-store');
    reply.header('content-security-policy', graphiqlSecurityPolicy);
    return page;
  });
  for (const [name, { type, read }] of Object.entries(assets)) {
    let loaded: Promise<Loaded> | undefined;
    app.get(`${path}/${name}`, options, async (request, reply) => {
      loaded ??= load(read);
      setHeaders(reply, type, 'public, max-age=300');
      return choose(await loaded, request, reply);
    });
  }
}

interface Loaded {
  readonly plain: Buffer;
  readonly compressed: Buffer;
}

async function load(read: () => Promise<Buffer>): Promise<Loaded> {
  const plain = await read();
  return { plain, compressed: await compress(plain) };
}

function setHeaders(reply: FastifyReply, type: string, caching: string): void {
  reply.header('content-type', `${type}; charset=utf-8`);
  reply.header('cache-control', caching);
  reply.header('x-content-type-options', 'nosniff');
  reply.header('referrer-policy', 'no-referrer');
}

function choose({ plain, compressed }: Loaded, request: FastifyRequest, reply: FastifyReply): Buffer {
  reply.header('vary', 'accept-encoding');
  if (!/\bgzip\b/.test(String(request.headers['accept-encoding']))) return plain;
  reply.header('content-encoding', 'gzip');
  return compressed;
}
