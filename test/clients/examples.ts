/**
 * The apps of examples/ as their readers start them, against a rowgraph that serves the bird-watching club: each is built from a copy with the packages of this
 * folder, and used: buttons are clicked, pages fetched, programs run. Part of `npm run test:clients`.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { signKey } from '../../src/auth/sign-key.ts';
import { startServer } from '../../src/http/transport/start-server.ts';
import { createRowgraph, type Rowgraph } from '../../src/index.ts';
import { createTelemetry } from '../../src/telemetry/create-telemetry.ts';
import { packed } from '../package/pack-package.ts';
import { root } from '../run-checks.ts';
import { startTestDatabases, type TestDatabase, type TestDatabases } from '../support/test-databases.ts';
import { installOnce } from './install-once.ts';

const folder = import.meta.dirname;
const examples = path.join(root, 'examples');
const secret = 'a-secret-of-tests-with-more-than-32-bytes';
/** Milliseconds after which an app that hangs has failed. */
const timeout = 300_000;
const read = (file: string): string => readFileSync(path.join(examples, file), 'utf8');
const run = promisify(execFile);

let databases: TestDatabases;
let database: TestDatabase;
let graph: Rowgraph;
let server: Awaited<ReturnType<typeof startServer>>;
let url: string;
let anonKey: string;
let adasToken: string;
before(async () => {
  await installOnce();
  // The apps use the package as it is published.
  if (packed === undefined) execFileSync('npm', ['run', 'build'], { cwd: root, stdio: 'ignore' });
  databases = await startTestDatabases();
  database = await databases.create(`${read('bird-club/schema.sql')}\n${read('bird-club/data.sql')}`);
  graph = await createRowgraph({ database: database.url, introspection: 'on', poolSize: 2 });
  server = await startServer({ graph, jwtSecret: secret, telemetry: createTelemetry({ level: 'silent' }) });
  url = `${server.url}/graphql/v1`;
  anonKey = await signKey(secret, 'anon');
  adasToken = await signKey(secret, 'authenticated', '1h', { sub: '00000000-0000-4000-8000-000000000001' });
});
after(async () => {
  await server?.close();
  await graph?.close();
  await databases?.close();
});

/** A copy of an app with the packages that it names. It is outside of the repository: Relay's compiler does not see what git ignores. */
function copyApp(context: TestContext, name: string): string {
  const app = mkdtempSync(path.join(tmpdir(), `rowgraph-${name}-`));
  context.after(() => rmSync(app, { recursive: true }));
  cpSync(path.join(examples, name), app, { recursive: true, filter: (file) => path.basename(file) !== 'node_modules' });
  const packages = path.join(app, 'node_modules');
  mkdirSync(packages);
  for (const entry of readdirSync(path.join(folder, 'node_modules'))) {
    symlinkSync(path.join(folder, 'node_modules', entry), path.join(packages, entry));
  }
  symlinkSync(root, path.join(packages, 'rowgraph'));
  return app;
}

/** Runs a script of the app's package.json. What it prints about its end is all that there is to say. */
async function runScript(app: string, script: string, environment: Readonly<Record<string, string>> = {}): Promise<string> {
  const options = { cwd: app, timeout, env: { PATH: process.env.PATH, HOME: process.env.HOME, ...environment } };
  const command = run('npm', ['run', '--silent', script], options);
  const { stdout } = await command.catch(({ stdout, stderr }: { stdout: string; stderr: string }) => assert.fail(`${stdout}${stderr}`));
  return stdout;
}

test('the apps name the versions that are tested', () => {
  const tested = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')).dependencies as Record<string, string>;
  const manifests = globSync('*/package.json', { cwd: examples });
  assert.ok(manifests.length >= 4);
  for (const manifest of manifests) {
    const { dependencies, devDependencies } = JSON.parse(read(manifest)) as Record<string, Record<string, string>>;
    const { rowgraph, ...named } = { ...dependencies, ...devDependencies };
    assert.ok(rowgraph === undefined || rowgraph === 'file:../..');
    for (const [name, version] of Object.entries(named)) assert.equal(version, tested[name], `${name} in examples/${manifest}`);
  }
});

for (const name of ['relay', 'apollo']) {
  test(name, { timeout }, async (context) => {
    const app = copyApp(context, name);
    writeFileSync(path.join(app, '.env.local'), `VITE_GRAPHQL_URL=${url}\nVITE_ANON_KEY=${anonKey}\nVITE_TOKEN=${adasToken}\n`);
    writeFileSync(path.join(app, 'schema.graphql'), await graph.sdl({ role: 'authenticated' }));
    await runScript(app, 'build');
    const options = { cwd: app, timeout, env: { PATH: process.env.PATH, HOME: process.env.HOME } };
    const clicking = run(process.execPath, [path.join(folder, 'click-through.mjs')], options);
    await clicking.catch(({ stdout, stderr }: { stdout: string; stderr: string }) => assert.fail(`${stdout}${stderr}`));
  });
}

test('codegen', { timeout }, async (context) => {
  const app = copyApp(context, 'codegen');
  const environment = { GRAPHQL_URL: url, ANON_KEY: anonKey };
  await runScript(app, 'codegen', environment);
  await runScript(app, 'check');
  const shown = /^This prints\n\n((?: {4}.+\n)+)/m.exec(read('codegen/README.md'))?.[1];
  assert.equal(await runScript(app, 'start', environment), shown?.replace(/^ {4}/gm, ''));
});

/** Next wants packages in folders, so that its copy is in the repository, and rowgraph beside it as it is published. */
function copyNext(context: TestContext): string {
  const app = path.join(folder, 'generated/next');
  rmSync(app, { recursive: true, force: true });
  context.after(() => rmSync(app, { recursive: true }));
  cpSync(path.join(examples, 'next'), app, { recursive: true, filter: (file) => !['node_modules', '.next'].includes(path.basename(file)) });
  const installed = path.join(app, 'node_modules/rowgraph');
  mkdirSync(installed, { recursive: true });
  cpSync(path.join(root, 'package.json'), path.join(installed, 'package.json'));
  cpSync(path.join(root, 'dist'), path.join(installed, 'dist'), { recursive: true });
  symlinkSync(path.join(root, 'node_modules'), path.join(installed, 'node_modules'));
  return app;
}

test('next', { timeout }, async (context) => {
  const app = copyNext(context);
  const environment = { DATABASE_URL: database.url, JWT_SECRET: secret, NEXT_TELEMETRY_DISABLED: '1' };
  await runScript(app, 'build', environment);
  const next = spawn(process.execPath, [path.join(folder, 'node_modules/next/dist/bin/next'), 'start', '--port', '0'], {
    cwd: app,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  context.after(() => endOf(next));
  const origin = await printedOrigin(next);
  assert.match(await (await fetch(origin)).text(), /<li>Mute Swan(?:<!-- -->)?, /);
  const headers = { apiKey: anonKey, 'content-type': 'application/json' };
  const body = JSON.stringify({ query: '{ siteByPk(id: 1) { name } }' });
  const answer = await fetch(`${origin}/graphql`, { method: 'POST', headers, body });
  assert.deepEqual(await answer.json(), { data: { siteByPk: { name: 'Alder Carr' } } });
  assert.equal((await fetch(`${origin}/graphql`, { method: 'POST', headers: { ...headers, apiKey: 'wrong' }, body })).status, 401);
});

/** Where Next serves, once it does. */
async function printedOrigin(next: ChildProcess): Promise<string> {
  let printed = '';
  for await (const chunk of next.stdout ?? []) {
    printed += chunk;
    const [, port] = /localhost:(\d+)[\s\S]*Ready/.exec(printed) ?? [];
    if (port !== undefined) return `http://127.0.0.1:${port}`;
  }
  return assert.fail(printed);
}

async function endOf(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}
