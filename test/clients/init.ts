/**
 * What `rowgraph init` writes, as its users go on: types are made, checked, and the first query runs against `rowgraph dev`, for each client in
 * an empty folder, and in apps of Vite and Next. Part of `npm run test:clients`.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { clientNames } from '../../src/cli/init/clients.ts';
import { makeFolder, removeFolder, runCommand, startCommand } from '../process/run-command.ts';
import { root } from '../run-checks.ts';
import { installOnce } from './install-once.ts';

const folder = import.meta.dirname;
/** Milliseconds after which what hangs has failed. */
const timeout = 300_000;
const run = promisify(execFile);
const notes = { noteCollection: { edges: [{ node: { id: 1, body: 'Hello, everybody' } }] } };

let cache: string;
before(async () => {
  await installOnce();
  cache = await makeFolder();
});
after(() => removeFolder(cache));

/** A folder outside of the repository with the packages of this one, and these files. */
function makeProject(context: TestContext, files: Readonly<Record<string, string>> = {}): string {
  const project = mkdtempSync(path.join(tmpdir(), 'rowgraph-init-'));
  context.after(() => rmSync(project, { recursive: true, maxRetries: 3 }));
  const packages = path.join(project, 'node_modules');
  mkdirSync(packages);
  for (const entry of readdirSync(path.join(folder, 'node_modules'))) {
    symlinkSync(path.join(folder, 'node_modules', entry), path.join(packages, entry));
  }
  symlinkSync(root, path.join(packages, 'rowgraph'));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(project, name)), { recursive: true });
    writeFileSync(path.join(project, name), text);
  }
  return project;
}

interface Project {
  readonly folder: string;
  /** Runs a script of package.json; resolves to what it prints. */
  script(name: string): Promise<string>;
}

/** Runs `rowgraph init`, and serves the API as its script does, at a free port. */
async function initProject(context: TestContext, project: string, client: string): Promise<Project> {
  const environment = { XDG_CACHE_HOME: cache };
  const { code, stderr } = await runCommand(['init', '--client', client], { home: project, environment });
  assert.deepEqual([code, stderr], [0, '']);
  const { scripts } = JSON.parse(readFileSync(path.join(project, 'package.json'), 'utf8')) as { scripts: Record<string, string> };
  const [program, ...flags] = scripts.api!.split(' ');
  assert.equal(program, 'rowgraph');
  const api = startCommand([...flags, '--port', '0'], { home: project, environment });
  context.after(() => api.stop());
  const printed = await api.waitFor(/Ctrl-C stops/);
  const url = /GraphQL URL: +(\S+)/.exec(printed)?.[1] ?? assert.fail(printed);
  const variables = path.join(project, '.env');
  writeFileSync(variables, readFileSync(variables, 'utf8').replace('http://127.0.0.1:4000/graphql/v1', url));
  const options = { cwd: project, timeout, env: { PATH: process.env.PATH, HOME: process.env.HOME, NEXT_TELEMETRY_DISABLED: '1' } };
  const script = async (name: string): Promise<string> => {
    const command = run('npm', ['run', '--silent', name], options);
    const { stdout } = await command.catch(({ stdout, stderr }: { stdout: string; stderr: string }) => assert.fail(`${stdout}${stderr}`));
    return stdout;
  };
  return { folder: project, script };
}

async function checkTypes(project: string): Promise<void> {
  const command = run(path.join(folder, 'node_modules/.bin/tsc'), ['--noEmit', '--project', project]);
  await command.catch(({ stdout, stderr }: { stdout: string; stderr: string }) => assert.fail(`${stdout}${stderr}`));
}

for (const client of clientNames) {
  test(`${client} in an empty folder`, { timeout }, async (context) => {
    const project = await initProject(context, makeProject(context), client);
    await project.script('codegen');
    await checkTypes(project.folder);
    const { noteCollection } = JSON.parse(await project.script('first-query')) as typeof notes;
    assert.deepEqual(
      noteCollection.edges.map(({ node: { id, body } }) => ({ id, body })),
      notes.noteCollection.edges.map(({ node }) => node),
    );
    // The types are those of the schema: what does not exist is an error.
    const query = path.join(project.folder, 'src/graphql/first-query.ts');
    writeFileSync(query, `${readFileSync(query, 'utf8')}\nexport const wrong = (await firstQuery())?.nothing;\n`);
    await assert.rejects(checkTypes(project.folder), /Property 'nothing' does not exist/);
  });
}
