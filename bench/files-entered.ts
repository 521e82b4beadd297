/**
 * `node bench/files-entered.ts`: the files of `src` of which the first request, and one for which everything is cached, run a function, over
 * HTTP and PostgreSQL. `--list` also names them, with how many functions of each.
 */
import { Session } from 'node:inspector/promises';
import { parseArgs } from 'node:util';
import { signKey } from '../src/auth/sign-key.ts';
import { startServer } from '../src/http/transport/start-server.ts';
import { createRowgraph } from '../src/index.ts';
import { startTestDatabases } from '../test/support/test-databases.ts';

const { values } = parseArgs({ options: { list: { type: 'boolean', default: false } } });
const schema = `create table account (id int primary key, email text); insert into account values (1, 'a'), (2, 'b');
  grant usage on schema public to anon; grant select on account to anon;`;
const query = '{ accountCollection(first: 3) { edges { node { id } } } }';
const secret = 'a-secret-of-the-bench-with-more-than-32-bytes';
const root = new URL('../src/', import.meta.url).href;

/** How many functions of each file have run since the last call. */
async function takeFunctions(session: Session): Promise<Map<string, number>> {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const entered = new Map<string, number>();
  for (const { url, functions } of result) {
    if (!url.startsWith(root)) continue;
    // The first function of a file is its top level.
    const count = functions.slice(1).filter(({ ranges }) => ranges.some((range) => range.count > 0)).length;
    if (count > 0) entered.set(url.slice(root.length), count);
  }
  return entered;
}

const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
const databases = await startTestDatabases();
const { url } = await databases.create(schema);
const graph = await createRowgraph({ database: url });
const server = await startServer({ graph, jwtSecret: secret });
try {
  const apiKey = await signKey(secret, 'anon');
  const ask = async (): Promise<string> => {
    const headers = { apiKey, 'content-type': 'application/json' };
    const response = await fetch(`${server.url}/graphql/v1`, { method: 'POST', headers, body: JSON.stringify({ query }) });
    return response.text();
  };
  // Loads what a server loads once, and the role.
  await ask();
  await graph.execute({ query: '{ __typename }' }, { role: 'anon' });
  await graph.reload();
  await takeFunctions(session);
  console.log(await ask());
  report('first request', await takeFunctions(session));
  await ask();
  await takeFunctions(session);
  await ask();
  report('cached request', await takeFunctions(session));
} finally {
  await server.close();
  await graph.close();
  await databases.close();
}

function report(name: string, entered: ReadonlyMap<string, number>): void {
  const functions = [...entered.values()].reduce((sum, count) => sum + count, 0);
  console.log(`${name}: ${entered.size} files, ${functions} functions`);
  if (values.list) for (const [file, count] of [...entered].sort()) console.log(`  ${String(count).padStart(3)} ${file}`);
}
