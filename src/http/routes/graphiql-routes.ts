/**
 * Serves GraphiQL from `dist/graphiql`, where `graphiql/bundle.ts` puts it, compressed: page, scripts, styles and a font, with nothing from
 * elsewhere.
 */
import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { brotliDecompress, gzip } from 'node:zlib';
import { type GraphiqlSettings, graphiqlSecurityPolicy, renderGraphiqlPage } from './graphiql-page.ts';
import type { Route } from './route-exchange.ts';

const decompress = promisify(brotliDecompress);
const compress = promisify(gzip);
/** The same path from `src` and from `dist`. */
const bundleFolder = new URL('../../../dist/graphiql/', import.meta.url);
const types: Readonly<Record<string, string>> = { js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8', ttf: 'font/ttf' };

/** The routes of the page at `path` and of its assets below it. */
export function createGraphiqlRoutes(
  path: string,
  settings: GraphiqlSettings,
  folder = bundleFolder,
): readonly (readonly [path: string, route: Route])[] {
  const names = listAssets(folder);
  if (names.length === 0) return [[path, answerMissing]];
  const page = Buffer.from(renderGraphiqlPage(path, settings));
  const headers = [...listHeaders('text/html; charset=utf-8', 'no-store'), 'content-security-policy', graphiqlSecurityPolicy];
  const assets = names.map((name) => [`${path}/${name}`, createAssetRoute(name, folder)] as const);
  return [[path, () => ({ status: 200, headers, body: page })], ...assets];
}

/** The names that a browser may request; none in a clone where the page has not been bundled. */
function listAssets(folder: URL): readonly string[] {
  try {
    return readdirSync(folder).flatMap((file) => /^(.+\.(?:js|css|ttf))\.br$/.exec(file)?.[1] ?? []);
  } catch {
    return [];
  }
}

const answerMissing: Route = () => ({
  status: 503,
  headers: listHeaders('text/plain; charset=utf-8', 'no-store'),
  body: Buffer.from('GraphiQL has not been built in this clone of rowgraph: run "npm run build:graphiql", and start rowgraph again.\n'),
});

function createAssetRoute(name: string, folder: URL): Route {
  const type = types[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream';
  const headers = [...listHeaders(type, 'public, max-age=300'), 'vary', 'Accept-Encoding'];
  const read = keep(() => readFile(new URL(`${name}.br`, folder)));
  const plain = keep(() => read().then(decompress));
  const zip = keep(() => plain().then(compress));
  return async (request) => {
    const accepted = String(request.headers['accept-encoding']);
    // Browsers accept Brotli only over HTTPS and from localhost.
    if (/\bbr\b/.test(accepted)) return { status: 200, headers: [...headers, 'content-encoding', 'br'], body: await read() };
    if (!/\bgzip\b/.test(accepted)) return { status: 200, headers, body: await plain() };
    return { status: 200, headers: [...headers, 'content-encoding', 'gzip'], body: await zip() };
  };
}

/** Does the work once and keeps its result. After a failure, such as too many open files, the next call does it again. */
function keep<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let kept: Promise<Result> | null = null;
  return () => {
    kept ??= work().catch((error: unknown) => {
      kept = null;
      throw error;
    });
    return kept;
  };
}

function listHeaders(type: string, caching: string): string[] {
  return ['content-type', type, 'cache-control', caching, 'referrer-policy', 'no-referrer'];
}
