/**
 * rowgraph in a `node:http` server: as `mounted` with its default limits and deadlines, as `unlimited` with none. The difference is what they
 * cost.
 */
import { createServer } from 'node:http';
import { readSurroundings } from './surroundings.ts';

// The built package, like the other servers of rowgraph. Not known to the type checker, because it is built later.
const load = async (name: string) => import(new URL(`../../dist/${name}.js`, import.meta.url).href);
const { createRowgraph } = (await load('index')) as typeof import('../../src/index.ts');
const { createNodeHandler } = (await load('http/create-node-handler')) as typeof import('../../src/http/create-node-handler.ts');

const unlimited = process.argv[2] === 'unlimited';
const { port, databaseUrl, secret, poolSize } = readSurroundings();

const graph = await createRowgraph({
  database: databaseUrl,
  poolSize,
  ...(unlimited && { limits: 'off', timeout: Infinity }),
});
const handler = createNodeHandler(graph, {
  jwtSecret: secret,
  ...(unlimited && {
    bodyLimit: Infinity,
    requestTimeout: Infinity,
    writeTimeout: Infinity,
    maxRequests: Infinity,
    maxClientRequests: Infinity,
    maxBytesInFlight: Infinity,
    maxPipelinedRequests: Infinity,
  }),
});
createServer(handler).listen(port, '127.0.0.1');
