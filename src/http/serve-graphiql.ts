/** Serves GraphiQL from the files of its npm package. In: where, and for which endpoint; out: routes of the page and its assets. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import {
  type GraphiqlSettings,
  graphiqlPageScript,
  graphiqlPageStyle,
  graphiqlSecurityPolicy,
  renderGraphiqlPage,
} from './graphiql-page.ts';
import type { Route } from './route.ts';

const compress = promisify(gzip);
const { resolve } = createRequire(import.meta.url);

function readPackageFile(packageName: string, path: string): () => Promise<Buffer> {
  return () => readFile(join(dirname(resolve(`${packageName}/package.json`)), path));
}

/** These packages ship bundles that run in a browser directly: no build, no module loader, no other origin. */
const assets = {
  'graphiql.js': { type: 'text/javascript', read: readPackageFile('graphiql', 'dist/index.umd.js') },
  'graphiql.css': { type: 'text/css', read: readPackageFile('graphiql', 'dist/style.css') },
  'react.js': { type: 'text/javascript', read: readPackageFile('react', 'umd/react.production.min.js') },
  'react-dom.js': { type: 'text/javascript', read: readPackageFile('react-dom', 'umd/react-dom.production.min.js') },
  'page.js': { type: 'text/javascript', read: async () => Buffer.from(graphiqlPageScript) },
  'page.css': { type: 'text/css', read: async () => Buffer.from(graphiqlPageStyle) },
};

/** The routes of the page at `path` and of its assets below it. */
export function createGraphiqlRoutes(path: string, settings: GraphiqlSettings): readonly (readonly [path: string, route: Route])[] {
  const page = Buffer.from(renderGraphiqlPage(path, settings));
  const pageHeaders = [...listHeaders('text/html', 'no-store'), 'content-security-policy', graphiqlSecurityPolicy];
  const servePage: Route = () => ({ status: 200, headers: pageHeaders, body: page });
  return [[path, servePage], ...Object.entries(assets).map(([name, asset]) => [`${path}/${name}`, createAssetRoute(asset)] as const)];
}

function createAssetRoute({ type, read }: (typeof assets)[keyof typeof assets]): Route {
  const headers = [...listHeaders(type, 'public, max-age=300'), 'vary', 'Accept-Encoding'];
  let loaded: Promise<Loaded> | undefined;
  return async (request) => {
    loaded ??= load(read);
    const { plain, compressed } = await loaded;
    if (!/\bgzip\b/.test(String(request.headers['accept-encoding']))) return { status: 200, headers, body: plain };
    return { status: 200, headers: [...headers, 'content-encoding', 'gzip'], body: compressed };
  };
}

interface Loaded {
  readonly plain: Buffer;
  readonly compressed: Buffer;
}

async function load(read: () => Promise<Buffer>): Promise<Loaded> {
  const plain = await read();
  return { plain, compressed: await compress(plain) };
}

function listHeaders(type: string, caching: string): string[] {
  return ['content-type', `${type}; charset=utf-8`, 'cache-control', caching, 'referrer-policy', 'no-referrer'];
}
