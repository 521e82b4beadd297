/**
 * What `rowgraph init` writes, as its users go on: types are made, checked, and the first query runs against `rowgraph dev`, for each client in
 * an empty folder, and in apps of Vite and Next. Part of `npm run test:clients`.
 */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { clientNames } from '../../src/cli/init/clients.ts';
import { makeFolder, type RunningCommand, removeFolder, runCommand, startCommand } from '../process/run-command.ts';
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
  /** `npm run api`. */
  readonly api: RunningCommand;
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
  return { folder: project, script, api };
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

/** The files of `npm create vite` that matter, with the template react-ts. */
const viteApp = {
  'package.json': JSON.stringify({
    name: 'app',
    private: true,
    version: '0.0.0',
    type: 'module',
    scripts: { dev: 'vite', build: 'tsc -b && vite build' },
    dependencies: { react: '^19.3.1', 'react-dom': '^19.3.1' },
    devDependencies: { '@vitejs/plugin-react': '^6.3.0', typescript: '~5.9.3', vite: '^8.3.8' },
  }),
  'index.html': '<!doctype html><div id="root"></div><script type="module" src="/src/main.tsx"></script>',
  'vite.config.ts': "import react from '@vitejs/plugin-react';\nexport default { plugins: [react()] };\n",
  'tsconfig.json': '{ "files": [], "references": [{ "path": "./tsconfig.app.json" }] }',
  'tsconfig.app.json': `{
  "compilerOptions": {
    "tsBuildInfoFile": "./node_modules/.tmp/tsconfig.app.tsbuildinfo",
    "target": "ES2022", "useDefineForClassFields": true, "lib": ["ES2022", "DOM", "DOM.Iterable"], "module": "ESNext",
    "types": ["vite/client"], "skipLibCheck": true,

    /* Bundler mode */
    "moduleResolution": "bundler", "allowImportingTsExtensions": true, "verbatimModuleSyntax": true, "moduleDetection": "force",
    "noEmit": true, "jsx": "react-jsx",

    /* Linting */
    "strict": true, "noUnusedLocals": true, "noUnusedParameters": true, "erasableSyntaxOnly": true, "noFallthroughCasesInSwitch": true
  },
  "include": ["src"]
}`,
  'src/main.tsx': "import { firstQuery } from './graphql/first-query.ts';\nfirstQuery().then(console.log);\n",
  '.gitignore': 'node_modules\n*.local',
};

for (const client of ['apollo', 'gql-tada', 'tanstack-query'] as const) {
  test(`${client} in an app of Vite`, { timeout }, async (context) => {
    const project = await initProject(context, makeProject(context, viteApp), client);
    assert.equal(readFileSync(path.join(project.folder, '.gitignore'), 'utf8'), 'node_modules\n*.local\n.env\n');
    await project.script('codegen');
    // Types, and a bundle for browsers, in which is the key, and nothing that is a secret.
    await project.script('build');
    assert.match(await project.script('first-query'), /Hello, everybody/);
    const assets = path.join(project.folder, 'dist/assets');
    const bundle = readdirSync(assets)
      .map((file) => readFileSync(path.join(assets, file), 'utf8'))
      .join('');
    const variables = Object.fromEntries(
      [...readFileSync(path.join(project.folder, '.env'), 'utf8').matchAll(/^(\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]),
    );
    assert.ok(bundle.includes(variables.VITE_ANON_KEY!));
    assert.ok(!bundle.includes(variables.ROWGRAPH_JWT_SECRET!) && !bundle.includes(variables.CODEGEN_TOKEN!));
  });
}

test('urql in an app of Next', { timeout }, async (context) => {
  const app = {
    'package.json': JSON.stringify({
      name: 'app',
      private: true,
      scripts: { dev: 'next dev', build: 'next build', start: 'next start' },
      dependencies: { next: '16.4.6', react: '19.3.1', 'react-dom': '19.3.1' },
      devDependencies: { typescript: '^5', '@types/node': '^24', '@types/react': '^19' },
    }),
    'tsconfig.json': `{
  "compilerOptions": {
    "target": "ES2017", "lib": ["dom", "dom.iterable", "esnext"], "allowJs": true, "skipLibCheck": true, "strict": true, "noEmit": true,
    "esModuleInterop": true, "module": "esnext", "moduleResolution": "bundler", "resolveJsonModule": true, "isolatedModules": true,
    "jsx": "react-jsx", "incremental": true, "plugins": [{ "name": "next" }], "paths": { "@/*": ["./*"] }
  },
  "include": ["next-env.d.ts", "**/*.ts", "**/*.tsx", ".next/types/**/*.ts"], "exclude": ["node_modules"]
}`,
    'app/layout.tsx':
      'export default function Layout({ children }: { children: React.ReactNode }) {\n  return <html><body>{children}</body></html>;\n}\n',
    'app/page.tsx': 'export default function Page() {\n  return <p>Hello</p>;\n}\n',
    '.gitignore': '/node_modules\n.env*\n',
  };
  // Next wants packages in folders, so that its copy is in the repository.
  const inRepository = path.join(folder, 'generated/next-init');
  rmSync(inRepository, { recursive: true, force: true });
  context.after(() => rmSync(inRepository, { recursive: true, force: true, maxRetries: 3 }));
  for (const [name, text] of Object.entries(app)) {
    mkdirSync(path.dirname(path.join(inRepository, name)), { recursive: true });
    writeFileSync(path.join(inRepository, name), text);
  }
  mkdirSync(path.join(inRepository, 'node_modules'));
  symlinkSync(root, path.join(inRepository, 'node_modules/rowgraph'));
  const project = await initProject(context, inRepository, 'urql');
  await project.script('codegen');
  await project.script('build');
  const next = spawn(process.execPath, [path.join(folder, 'node_modules/next/dist/bin/next'), 'start', '--port', '0'], {
    cwd: inRepository,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, NEXT_TELEMETRY_DISABLED: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  context.after(async () => {
    const ended = once(next, 'exit');
    if (next.kill('SIGKILL')) await ended;
  });
  let printed = '';
  for await (const chunk of next.stdout) {
    printed += chunk;
    if (/Ready/.test(printed)) break;
  }
  const port = /localhost:(\d+)/.exec(printed)?.[1] ?? assert.fail(printed);
  const show = async (): Promise<string> => (await fetch(`http://127.0.0.1:${port}/first-query`)).text();
  assert.match(await show(), /Hello, everybody/);
  // A server keeps no answers, for which there is no user who could ask for newer ones.
  const schema = path.join(project.folder, 'schema.sql');
  writeFileSync(schema, readFileSync(schema, 'utf8').replace('Hello, everybody', 'Good evening'));
  await project.api.waitFor(/Loaded schema\.sql again/, 'stderr');
  assert.match(await show(), /Good evening/);
});
