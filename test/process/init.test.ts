/** `rowgraph init` as a process of its own. What it writes runs in test/clients/init.ts, with the packages of the clients. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { startTestDatabases, type TestDatabase, type TestDatabases } from '../support/test-databases.ts';
import { makeFolder, type Outcome, removeFolder, runCommand, runShell, startCommand } from './run-command.ts';

let home: string;
let databases: TestDatabases;
let database: TestDatabase;
before(async () => {
  databases = await startTestDatabases();
  database = await databases.create(
    "create table plant (id int primary key, name text); insert into plant values (1, 'Fern'); create table secret (id int primary key); revoke all on secret from anon",
  );
});
after(() => databases.close());
beforeEach(async (context) => {
  home = await makeFolder();
  const folder = home;
  if ('after' in context) context.after(() => removeFolder(folder));
});

const init = (...flags: string[]): Promise<Outcome> => runCommand(['init', ...flags], { home });
const read = (name: string): string => readFileSync(path.join(home, name), 'utf8');
const write = (name: string, text: string): void => {
  mkdirSync(path.dirname(path.join(home, name)), { recursive: true });
  writeFileSync(path.join(home, name), text);
};
/** All files but those of the cache. */
const list = (): string[] =>
  readdirSync(home, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes('cache'))
    .map((entry) => path.relative(home, path.join(entry.parentPath, entry.name)))
    .sort();

test('an empty folder gets a project, and is told what to do next; again, nothing changes', async () => {
  const { code, stdout, stderr } = await init('--client', 'urql');
  assert.deepEqual([code, stderr], [0, '']);
  const files = [
    '.env',
    '.gitignore',
    'codegen.ts',
    'package.json',
    'schema.sql',
    'src/first-query.ts',
    'src/graphql/client.ts',
    'src/graphql/first-query.ts',
    'src/graphql/session.ts',
    'tsconfig.json',
  ];
  assert.deepEqual(list(), files);
  for (const file of files) assert.match(stdout, new RegExp(`^ {2}write ${file.replaceAll('.', '\\.')}$`, 'm'));
  assert.match(
    stdout,
    /^Next:\n {2}1\. npm install\n {2}2\. npm run api, .*\n {2}3\. npm run codegen, .*\n {2}4\. npm run first-query\n$/m,
  );
  assert.equal(statSync(path.join(home, '.env')).mode & 0o077, 0, 'others may not read the secrets');
  assert.match(read('.gitignore'), /^\.env$/m);
  const before = list().map(read);
  const again = await init('--client', 'urql');
  assert.deepEqual([again.code, again.stderr], [0, '']);
  assert.deepEqual(list().map(read), before);
});

test('it never replaces a file silently', async () => {
  write('src/graphql/client.ts', 'mine');
  write('.env', 'GRAPHQL_URL=https://mine.example/graphql\n');
  const refused = await init('--client', 'apollo');
  assert.deepEqual([refused.code, refused.stdout], [2, '']);
  assert.equal(
    refused.stderr,
    'rowgraph: nothing was written, because it would replace src/graphql/client.ts: --force replaces them, --dry-run lists everything\n',
  );
  assert.deepEqual(list(), ['.env', 'src/graphql/client.ts']);
  const dry = await init('--client', 'apollo', '--dry-run');
  assert.equal(dry.code, 0);
  assert.match(dry.stdout, /^ {2}would replace src\/graphql\/client\.ts$/m);
  assert.match(dry.stdout, /^ {2}would add to \.env: variables ANON_KEY, ROWGRAPH_JWT_SECRET, CODEGEN_TOKEN$/m);
  assert.match(dry.stdout, /^ {2}would write package\.json$/m);
  assert.deepEqual(list(), ['.env', 'src/graphql/client.ts']);
  const forced = await init('--client', 'apollo', '--force');
  assert.equal(forced.code, 0, forced.stderr);
  assert.match(read('src/graphql/client.ts'), /new ApolloClient/);
  assert.match(read('.env'), /^GRAPHQL_URL=https:\/\/mine\.example\/graphql\n/);
});

test('a project keeps what it has: its package manager, scripts and programs', async () => {
  write('package.json', '{\n  "type": "commonjs",\n  "main": "index.js",\n  "scripts": { "codegen": "mine" }\n}\n');
  write('index.js', 'module.exports = 1;');
  write('pnpm-lock.yaml', '');
  const { stdout } = await init('--client', 'graphql-request');
  assert.match(stdout, /its script "codegen" stays; rowgraph's would be: graphql-codegen --config codegen\.ts/);
  assert.match(stdout, /1\. pnpm install\n {2}2\. pnpm run api/);
  assert.match(stdout, /its "type": "commonjs" is removed, so that Node runs ES modules, too/);
  const { type, scripts } = JSON.parse(read('package.json'));
  assert.deepEqual([type, scripts.codegen, scripts.api], [undefined, 'mine', 'rowgraph dev --env .env --sql schema.sql --watch']);
});

test('programs anywhere in the folder or in src may be CommonJS; the framework may be a development dependency', async () => {
  write('package.json', '{ "devDependencies": { "svelte": "5" } }');
  write('src/main.ts', '');
  const { stdout } = await init('--client', 'tanstack-query');
  assert.doesNotMatch(stdout, /"type"/);
  const { type, dependencies } = JSON.parse(read('package.json'));
  assert.deepEqual([type, '@tanstack/svelte-query' in dependencies], [undefined, true]);
});

test('what npm init wrote becomes a project of modules, because nothing in it is CommonJS', async () => {
  write('package.json', '{ "type": "commonjs", "main": "index.js" }');
  const { stdout } = await init('--client', 'graphql-request');
  assert.match(stdout, /"type": "module", which was "commonjs"/);
  assert.equal(JSON.parse(read('package.json')).type, 'module');
});

test('the first query is of the schema that is there: of a file', async () => {
  write('schema.sql', 'create table tree (id int primary key, height numeric);');
  const { code, stderr } = await init('--client', 'graphql-request');
  assert.equal(code, 0, stderr);
  assert.match(read('src/graphql/first-query.ts'), /query First \{ treeCollection\(first: 3\) \{ edges \{ node \{ id height \} \} \} \}/);
  assert.equal(read('schema.sql'), 'create table tree (id int primary key, height numeric);');
  write('schema.sql', 'create tble tree;');
  const wrong = await init('--client', 'graphql-request', '--force');
  assert.match(wrong.stderr, /^rowgraph: .*schema\.sql:1: syntax error at or near "tble"/m);
});

test('the first query is of the schema that is there: of a database, which dev opens only with its flag', async () => {
  const { code, stderr } = await init('--client', 'relay', '--database-url', database.url);
  assert.equal(code, 0, stderr);
  assert.match(
    read('src/graphql/first-query.ts'),
    /query firstQuery \{ plantCollection\(first: 3\) \{ edges \{ node \{ id name \} \} \} \}/,
  );
  assert.ok(!existsSync(path.join(home, 'schema.sql')));
  const { api } = JSON.parse(read('package.json')).scripts;
  assert.equal(api, 'rowgraph dev --env .env --database-url');
  const command = startCommand([...api.split(' ').slice(1), '--port', '0'], { home });
  const printed = await command.waitFor(/Ctrl-C stops/);
  assert.match(printed, /^rowgraph serves postgres:\/\//m);
  const url = /GraphQL URL: +(\S+)/.exec(printed)![1]!;
  const apiKey = /^VITE_ANON_KEY=(.*)$/m.exec(read('.env'))![1]!;
  const body = JSON.stringify({ query: '{ plantCollection { edges { node { name } } } }' });
  const answer = await fetch(url, { method: 'POST', headers: { apiKey, 'content-type': 'application/json' }, body });
  assert.deepEqual(await answer.json(), { data: { plantCollection: { edges: [{ node: { name: 'Fern' } }] } } });
  assert.equal((await command.stop()).code, 0);
});

test('on a terminal it asks, until the answer is one; Ctrl-D ends it', { skip: !existsSync('/usr/bin/script') }, async () => {
  const main = process.env.ROWGRAPH_TEST_COMMAND ?? path.join(import.meta.dirname, '../../src/cli/main.ts');
  /** Each answer is typed when its question is there. */
  const answer = async (...answers: string[]): Promise<string> => {
    const options = { cwd: home, env: { PATH: process.env.PATH, HOME: home, XDG_CACHE_HOME: path.join(home, 'cache') } };
    const child = spawn(
      '/usr/bin/script',
      ['--quiet', '--return', '--command', `'${process.execPath}' '${main}' init`, '/dev/null'],
      options,
    );
    let printed = '';
    for await (const chunk of child.stdout) {
      printed += chunk;
      if (/\((?:graphql-request|none)\): /.test(String(chunk))) child.stdin.write(answers.shift() ?? '\u0003');
    }
    return printed;
  };
  assert.match(await answer('none\n', '\u0004'), /nothing was written/);
  assert.deepEqual(list(), []);
  assert.match(await answer('3\n', 'mysql://x\n'), /rowgraph: the URL must be a URL such as/);
  assert.match(await answer('none\n', '3\n', '\n'), /write src\/graphql\/client\.ts[\s\S]*Next:/);
  assert.match(read('src/graphql/client.ts'), /@urql\/core/);
});

test('whoever has read enough of the output may stop reading', async () => {
  const { code, stdout, stderr } = await runShell('set +o pipefail; rowgraph init --client urql | head -1; rowgraph roles | true', {
    home,
  });
  assert.deepEqual([code, stdout, stderr], [0, '  write package.json\n', '']);
});

test('what is wrong is one line that says what to do, and nothing is written', async () => {
  const refuse = async (flags: readonly string[], message: RegExp, command = 'init'): Promise<void> => {
    const { code, stdout, stderr } = await runCommand([command, ...flags], { home });
    assert.ok(code === 1 || code === 2, String(code));
    assert.equal(stdout, '');
    assert.match(stderr, message);
  };
  await refuse([], /^rowgraph: --client is missing: graphql-request \(small, without a cache\), apollo [^\n]*\n$/);
  await refuse(['--client', 'apolo'], /^rowgraph: --client must be graphql-request, .* \(it is "apolo"\)\n$/);
  await refuse(['--client', 'urql', '--database-url', 'mysql://x'], /^rowgraph: --database-url must be/);
  await refuse(
    ['--client', 'urql', '--database-url', 'postgres://127.0.0.1:1/x'],
    /^rowgraph: cannot use the database postgres:\/\/127\.0\.0\.1:1\/x: /,
  );
  await refuse(
    ['--client', 'urql', '--database-url', database.url, '--anon-role', 'nobody'],
    /^rowgraph: --anon-role: the role "nobody" does not exist/,
  );
  await refuse(['--env', 'missing'], /^rowgraph: --env missing cannot be read: no such file or directory\n$/, 'dev');
  await refuse(['--database-url'], /^rowgraph: --database-url has no value, and ROWGRAPH_DATABASE_URL is not set\n$/, 'dev');
  assert.deepEqual(list(), []);
  write('package.json', '{ "devDependencies": { "typescript": "~7.0.2" } }');
  await refuse(
    ['--client', 'gql-tada'],
    /^rowgraph: gql-tada does not work with TypeScript 7 yet: install typescript@5, or choose another client\n$/,
  );
  write('package.json', '{');
  await refuse(['--client', 'urql'], /^rowgraph: package\.json cannot be read: /);
});
