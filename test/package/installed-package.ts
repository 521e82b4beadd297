/**
 * What `npm run test:package` runs: packs the package as it would be published, installs it as users do, and looks at what they get: its size, its
 * types under each way to resolve modules, the command, and the library in a bundle. Takes packages from the npm registry and nothing else.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import pg from 'pg';
import { startPostgres } from '../support/postgres.ts';
import { packed, packPackage } from './pack-package.ts';

const run = promisify(execFile);
const root = path.join(import.meta.dirname, '../..');
/** As `du` counts them: the blocks of the disk. */
const megabyte = 1024 ** 2;
const limits = { withoutOptional: 32 * megabyte, everything: 90 * megabyte };
/** What users of the types have installed beside the package. */
const typeScript = ['typescript@5.9.3', '@types/pg@8.23.1', '@types/node@24.19.2'];

let folder: string;
let tarball: string;
before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'rowgraph-package-'));
  tarball = packed ?? (await packPackage(folder));
});
after(() => rm(folder, { recursive: true, force: true }));

/** A project that has the package installed. */
async function install(name: string, ...flags: readonly string[]): Promise<string> {
  const project = path.join(folder, name);
  await mkdir(project);
  await writeFile(path.join(project, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  await run('npm', ['install', tarball, '--prefer-offline', ...flags], { cwd: project });
  return project;
}

async function sizeOf(target: string): Promise<number> {
  const status = await stat(target);
  const own = status.blocks * 512;
  if (!status.isDirectory()) return own;
  const sizes = await Promise.all((await readdir(target)).map((name) => sizeOf(path.join(target, name))));
  return sizes.reduce((sum, size) => sum + size, own);
}

async function checkSize(project: string, limit: number): Promise<void> {
  const size = await sizeOf(path.join(project, 'node_modules'));
  console.log(`${path.basename(project)}: ${(size / megabyte).toFixed(1)} MB, at most ${limit / megabyte} MB`);
  assert.ok(size < limit);
}

test('the last stage of deploy/Dockerfile installs what it starts', async () => {
  const image = path.join(folder, 'image');
  await mkdir(image);
  const stage = (await readFile(path.join(root, 'deploy/Dockerfile'), 'utf8')).split(/^FROM /m).at(-1)!;
  const valueOf = (name: string): string => new RegExp(`^${name} (.*)$`, 'm').exec(stage)?.[1] ?? assert.fail(name);
  await cp(tarball, path.join(image, valueOf('COPY').split(' ').at(-1)!));
  // Whoever runs this keeps the cache.
  const steps = valueOf('RUN').replace(' && npm cache clean --force', '');
  await run('sh', ['-ec', steps], { cwd: image });
  const [entry = ''] = JSON.parse(valueOf('ENTRYPOINT')) as string[];
  const started = path.join(image, path.relative(valueOf('WORKDIR'), entry));
  const { version } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')) as { version: string };
  assert.equal((await run(started, ['--version'])).stdout, `${version}\n`);
  assert.deepEqual((await readdir(path.join(image, 'node_modules/@electric-sql')).catch(() => [])).length, 0);
  assert.ok(!(await readdir(image)).includes('rowgraph.tgz'));
});

test('without optional dependencies', async (context) => {
  const project = await install('without-optional', '--omit=optional');
  await context.test('it is small', () => checkSize(project, limits.withoutOptional));

  await context.test('it has what old resolvers look for, no source maps, and no types of how bytes are kept', async () => {
    const installed = path.join(project, 'node_modules/rowgraph');
    const files = (await readdir(installed, { recursive: true })).filter((file) => /\.(?:js|map|d\.ts)$/.test(file));
    assert.deepEqual(
      files.filter((file) => file.endsWith('.map')),
      [],
    );
    for (const file of files) assert.doesNotMatch(await readFile(path.join(installed, file), 'utf8'), /sourceMappingURL=/, file);
    for (const file of files.filter((name) => name.endsWith('.d.ts')))
      assert.doesNotMatch(await readFile(path.join(installed, file), 'utf8'), /latin1/, file);
    const { main, types } = JSON.parse(await readFile(path.join(installed, 'package.json'), 'utf8')) as { main: string; types: string };
    for (const file of [main, types]) assert.ok(files.includes(path.normalize(file)), file);
  });

  await context.test('dev says what to install', async () => {
    const failed = await run('npx', ['rowgraph', 'dev'], { cwd: project }).catch(
      (error: unknown) => error as { code: number; stderr: string },
    );
    assert.equal('code' in failed && failed.code, 1);
    assert.match(failed.stderr.replace(/^npm warn.*\n/gm, ''), /^rowgraph: [^\n]*npm install @electric-sql\/pglite@[^\n]+\n$/);
  });

  await context.test('an esbuild bundle of the library serves a PostgreSQL, with no file beside it', async () => {
    const bundle = path.join(folder, 'bundle');
    await mkdir(bundle);
    const result = await build({
      stdin: { contents: await readFile(path.join(import.meta.dirname, 'consumer/bundled.ts'), 'utf8'), loader: 'ts', resolveDir: project },
      outfile: path.join(bundle, 'app.cjs'),
      bundle: true,
      platform: 'node',
      format: 'cjs',
      // pg uses these if they are there, and no others.
      external: ['pg-native', 'pg-cloudflare'],
      logLevel: 'silent',
    });
    assert.deepEqual(result.warnings, []);
    const server = await startPostgres();
    try {
      const client = new pg.Client(server.url);
      await client.connect();
      await client.query('create function answer() returns int stable language sql return 42');
      await client.end();
      const { stdout } = await run(process.execPath, ['app.cjs', server.url], { cwd: bundle });
      assert.deepEqual(JSON.parse(stdout), { data: { answer: 42 } });
    } finally {
      await server.stop();
    }
  });

  await context.test('each entry of the package can be imported, and nothing beside them', async () => {
    const program = `const names = [];
      for (const entry of ['rowgraph', 'rowgraph/node', 'rowgraph/fetch']) names.push(...Object.keys(await import(entry)));
      await import('rowgraph/dist/http/transport/start-server.js').catch(({ code }) => names.push(code));
      console.log(names.join());`;
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', program], { cwd: project });
    assert.match(stdout, /createRowgraph.*,createNodeHandler,createFetchHandler,ERR_PACKAGE_PATH_NOT_EXPORTED\n$/);
  });

  await context.test('a Node that is too old gets one line', async (each) => {
    const node = await findOldNode();
    if (node === undefined) return each.skip('there is no older Node on the path');
    const main = path.join(project, 'node_modules/rowgraph/dist/cli/main.js');
    const failed = await run(node, [main, 'dev']).catch((error: unknown) => error as { code: number; stdout: string; stderr: string });
    assert.equal('code' in failed && failed.code, 1);
    assert.match(failed.stderr, /^rowgraph needs Node 22\.18 or newer; this is [\d.]+\n$/);
  });
});

/** A Node on the path that is older than the package supports. */
async function findOldNode(): Promise<string | undefined> {
  for (const directory of (process.env.PATH ?? '').split(path.delimiter)) {
    const node = path.join(directory, 'node');
    const version = await run(node, ['-p', 'process.versions.node']).catch(() => null);
    const [major = 0, minor = 0] = (version?.stdout ?? '99').split('.').map(Number);
    if (major < 22 || (major === 22 && minor < 18)) return node;
  }
  return undefined;
}

test('with everything', async (context) => {
  const project = await install('everything');
  await context.test('it is not large', () => checkSize(project, limits.everything));

  await context.test('npx rowgraph dev serves the API and GraphiQL', async () => {
    const child = spawn('npx', ['rowgraph', 'dev', '--port', '0'], {
      cwd: project,
      env: { ...process.env, XDG_CACHE_HOME: path.join(folder, 'cache') },
      stdio: ['ignore', 'pipe', 'inherit'],
      detached: true,
    });
    try {
      const { graphqlUrl, anonKey, graphiqlUrl } = await readGreeting(child);
      const body = JSON.stringify({ query: '{ speciesCollection(first: 1) { edges { node { name } } } }' });
      const headers = { apiKey: anonKey, 'content-type': 'application/json' };
      const answer = (await (await fetch(graphqlUrl, { method: 'POST', headers, body })).json()) as { errors?: unknown };
      assert.equal(answer.errors, undefined);
      for (const url of [graphiqlUrl, `${graphiqlUrl}/page.js`]) assert.equal((await fetch(url)).status, 200, url);
    } finally {
      // npx, the shell that it starts, and the command.
      process.kill(-child.pid!, 'SIGINT');
      await once(child, 'close');
    }
  });

  await run('npm', ['install', '--prefer-offline', ...typeScript], { cwd: project });
  await cp(path.join(import.meta.dirname, 'consumer'), path.join(project, 'src'), { recursive: true });
  for (const [resolution, module] of [
    ['nodenext', 'nodenext'],
    ['bundler', 'esnext'],
    ['node10', 'commonjs'],
  ] as const) {
    await context.test(`a TypeScript project compiles with moduleResolution ${resolution}`, async () => {
      const flags = ['--noEmit', '--strict', '--target', 'es2022', '--esModuleInterop', '--module', module];
      const command = ['tsc', ...flags, '--moduleResolution', resolution, 'src/typed.ts'];
      const compiled = await run('npx', command, { cwd: project }).catch((error: unknown) => error as { stdout: string });
      // The types of others need not be without errors.
      const errors = compiled.stdout.split('\n').filter((line) => /^(src|node_modules\/rowgraph)\//.test(line));
      assert.deepEqual(errors, []);
    });
  }
});

async function readGreeting(child: ChildProcess): Promise<{ graphqlUrl: string; graphiqlUrl: string; anonKey: string }> {
  const found = new Map<string, string>();
  for await (const line of createInterface(child.stdout!)) {
    const [, name, value] = /^ {2}(GraphQL URL|GraphiQL URL|anon key): +(\S+)/.exec(line) ?? [];
    if (name !== undefined && value !== undefined) found.set(name, value);
    if (found.size === 3) break;
  }
  return { graphqlUrl: found.get('GraphQL URL')!, graphiqlUrl: found.get('GraphiQL URL')!, anonKey: found.get('anon key')! };
}
