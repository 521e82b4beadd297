/**
 * The first minutes of a new user, each in a fresh folder with an empty cache, as on a new machine: from a clone to an answer, from an own database
 * to the page, and from an empty project to a typed query. Downloads from the npm registry are part of it. Writes a table to standard output:
 * `node bench/first-minutes.ts`. The page that has it is docs/performance.md.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { packPackage } from '../test/package/pack-package.ts';
import { startPostgres } from '../test/support/postgres.ts';

const root = path.join(import.meta.dirname, '..');

interface Step {
  readonly name: string;
  readonly seconds: number;
}

/** A machine of its own for one user: a home without caches, and what was started in it. */
class FreshMachine {
  readonly home: string;
  readonly steps: Step[] = [];
  readonly #started: ChildProcess[] = [];
  readonly #environment: Readonly<Record<string, string | undefined>>;

  private constructor(home: string) {
    this.home = home;
    const node = path.dirname(process.execPath);
    // The registry and the proxy of this machine stay as they are.
    const kept = Object.entries(process.env).filter(([name]) =>
      /^(npm_config_(registry|.*proxy|cafile)|https?_proxy|no_proxy|node_extra_ca_certs)$/i.test(name),
    );
    const own = {
      HOME: home,
      XDG_CACHE_HOME: path.join(home, '.cache'),
      npm_config_cache: path.join(home, '.npm'),
      npm_config_update_notifier: 'false',
    };
    this.#environment = { ...Object.fromEntries(kept), ...own, PATH: `${node}:${process.env.PATH}` };
  }

  static async open(): Promise<FreshMachine> {
    return new FreshMachine(await mkdtemp(path.join(tmpdir(), 'rowgraph-first-minutes-')));
  }

  /** Runs one step. Its name is what the user types or does. */
  async step<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
    const began = performance.now();
    const result = await work();
    const seconds = (performance.now() - began) / 1000;
    this.steps.push({ name, seconds });
    process.stderr.write(`  ${seconds.toFixed(1)} s  ${name}\n`);
    return result;
  }

  /** Types a command, and waits for its end. */
  type(command: string, folder: string, shown = command): Promise<string> {
    return this.step(shown, () => this.run(command, folder));
  }

  async run(command: string, folder: string): Promise<string> {
    const options = { cwd: folder, env: this.#environment, maxBuffer: 64 * 1024 ** 2 };
    return (await promisify(execFile)('sh', ['-ec', command], options)).stdout;
  }

  /** Starts a command that goes on; resolves to what it printed once that matches. */
  async start(command: string, folder: string, pattern: RegExp): Promise<string> {
    const child = spawn('sh', ['-ec', `exec ${command}`], {
      cwd: folder,
      env: this.#environment,
      stdio: ['ignore', 'pipe', 'inherit'],
      detached: true,
    });
    this.#started.push(child);
    let printed = '';
    for await (const chunk of child.stdout.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
      printed += chunk;
      if (pattern.test(printed)) return printed;
    }
    throw new Error(`${command} ended: ${printed}`);
  }

  async close(): Promise<void> {
    for (const child of this.#started) {
      if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) continue;
      const ended = once(child, 'exit');
      // With what npm started.
      process.kill(-child.pid, 'SIGINT');
      await ended;
    }
    await rm(this.home, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** An address that answers with this text. */
async function expectAnswer(url: string, expected: string, init: RequestInit = {}): Promise<void> {
  const response = await fetch(url, init);
  const text = await response.text();
  if (!response.ok || !text.includes(expected)) throw new Error(`${url}: ${response.status} ${text.slice(0, 500)}`);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

const ready = /Ctrl-C stops/;
const urlIn = (printed: string, label: string): string => new RegExp(`${label}: +(\\S+)`).exec(printed)?.[1] ?? '';

async function cloneToAnswer(machine: FreshMachine): Promise<void> {
  await machine.type(`git clone --quiet file://${root} rowgraph`, machine.home, 'git clone');
  const clone = path.join(machine.home, 'rowgraph');
  await machine.type('npm ci', clone);
  const printed = await machine.step('npm start', () => machine.start('npm start -- --port 0', clone, ready));
  const curl = /^ {2}(curl .*)$/m.exec(printed)?.[1] ?? '';
  const answer = await machine.type(curl, clone, 'the curl that it prints');
  if (!answer.includes('speciesCollection')) throw new Error(answer);
}

async function databaseToPage(machine: FreshMachine, tarball: string): Promise<void> {
  const server = await startPostgres();
  try {
    const client = new pg.Client(server.url);
    await client.connect();
    for (const file of ['schema.sql', 'data.sql'])
      await client.query(await readFile(path.join(root, 'examples/bird-club', file), 'utf8')).catch(() => undefined);
    const folder = path.join(machine.home, 'mine');
    await mkdir(folder);
    await machine.type(`npm install ${tarball}`, folder, 'npm install rowgraph');
    const sql = await machine.run('npx rowgraph roles', folder);
    await machine.step('npx rowgraph roles, run in psql', () => client.query(sql));
    await client.end();
    const command = `npx rowgraph dev --port 0 --database-url '${server.url}'`;
    const printed = await machine.step('npx rowgraph dev --database-url …', () => machine.start(command, folder, ready));
    await machine.step('the page, with its schema', async () => {
      const page = urlIn(printed, 'GraphiQL URL');
      await expectAnswer(page, '<html');
      const headers = { apiKey: urlIn(printed, 'anon key'), 'content-type': 'application/json' };
      const body = JSON.stringify({ query: '{ __schema { types { name } } }' });
      await expectAnswer(urlIn(printed, 'GraphQL URL'), '__Schema', { method: 'POST', headers, body });
    });
  } finally {
    await machine.close();
    await server.stop();
  }
}

async function projectToTypedQuery(machine: FreshMachine, tarball: string): Promise<void> {
  const folder = path.join(machine.home, 'app');
  await mkdir(folder);
  await machine.type(`npm install --save-dev ${tarball}`, folder, 'npm install --save-dev rowgraph');
  const port = await freePort();
  await machine.type(`npx rowgraph init --client graphql-request --port ${port}`, folder, 'npx rowgraph init --client graphql-request');
  await machine.type('npm install', folder);
  await machine.step('npm run api', () => machine.start('npm run api', folder, ready));
  await machine.type('npm run codegen', folder);
  await machine.type('npm run check', folder);
  const rows = await machine.type('npm run first-query', folder);
  if (!rows.includes('Hello, everybody')) throw new Error(rows);
}

/** How many packages are in a folder `node_modules`, and how many megabytes of disk they take. */
async function measureInstall(machine: FreshMachine, tarball: string, flags: string): Promise<string> {
  const folder = path.join(machine.home, `size${flags}`);
  await mkdir(folder);
  await machine.run(`npm install ${flags} ${tarball}`, folder);
  const listed = JSON.parse(await readFile(path.join(folder, 'node_modules/.package-lock.json'), 'utf8')) as { packages: object };
  return `${Object.keys(listed.packages).length} packages, ${((await sizeOf(path.join(folder, 'node_modules'))) / 1024 ** 2).toFixed(0)} MB`;
}

async function sizeOf(target: string): Promise<number> {
  const status = await stat(target);
  if (!status.isDirectory()) return status.blocks * 512;
  const sizes = await Promise.all((await readdir(target)).map((name) => sizeOf(path.join(target, name))));
  return sizes.reduce((sum, size) => sum + size, status.blocks * 512);
}

const folder = await mkdtemp(path.join(tmpdir(), 'rowgraph-packed-'));
try {
  const tarball = await packPackage(folder);
  const journeys: [string, (machine: FreshMachine) => Promise<void>][] = [
    ['From a clone to an answer', cloneToAnswer],
    ['From an own database to the page', (machine) => databaseToPage(machine, tarball)],
    ['From an empty project to a typed query', (machine) => projectToTypedQuery(machine, tarball)],
  ];
  const lines = ['| | seconds |', '|---|---:|'];
  for (const [title, take] of journeys) {
    process.stderr.write(`${title}\n`);
    const machine = await FreshMachine.open();
    try {
      await take(machine);
    } finally {
      await machine.close();
    }
    const total = machine.steps.reduce((sum, { seconds }) => sum + seconds, 0);
    lines.push(
      `| **${title}** | **${total.toFixed(0)}** |`,
      ...machine.steps.map(({ name, seconds }) => `| ${name} | ${seconds.toFixed(1)} |`),
    );
  }
  const machine = await FreshMachine.open();
  try {
    const sizes = { 'with the optional packages': '', 'without them (`--omit=optional`)': '--omit=optional' };
    for (const [what, flags] of Object.entries(sizes)) process.stdout.write(`${what}: ${await measureInstall(machine, tarball, flags)}\n`);
  } finally {
    await machine.close();
  }
  const packed = ((await stat(tarball)).size / 1024 ** 2).toFixed(1);
  const { version } = process;
  process.stdout.write(`the package itself: ${packed} MB compressed\n\n${lines.join('\n')}\n\n`);
  process.stdout.write(
    `Measured on ${new Date().toISOString().slice(0, 10)} with Node ${version.slice(1)}, ${availableParallelism()} cores.\n`,
  );
} finally {
  await rm(folder, { recursive: true, force: true });
}
