import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { clientNames, clientRow } from './clients.ts';
import type { Project } from './project.ts';
import { adaptConfiguration, adaptSource, firstQueryFile, readTemplate, versionOf } from './templates.ts';

const root = path.join(import.meta.dirname, '../../..');
const project: Project = {
  folder: '/app',
  kind: 'plain',
  packageManager: 'npm',
  manifest: null,
  sources: 'src',
  appRouter: null,
  tsconfig: null,
};

test('the packages of each client have the versions that are tested', () => {
  const tested = JSON.parse(readFileSync(path.join(root, 'test/clients/package.json'), 'utf8')).dependencies as Record<string, string>;
  for (const name of clientNames)
    for (const each of [...clientRow(name).dependencies, ...clientRow(name).devDependencies])
      assert.equal(versionOf(each), `^${tested[each]}`, each);
});

test('the pages of clients have the files that init writes, complete', () => {
  const written = clientNames.map((name) => [name, ` --client ${name}`, `${name}/client.ts`]);
  for (const [name, flag, file] of [...written, ['session', '', 'session.ts']]) {
    const page = readFileSync(path.join(root, `docs/clients/${name}.md`), 'utf8');
    const block = `<!-- written by: rowgraph init${flag} -->\n\`\`\`ts\n${readTemplate(file!)}\`\`\`\n`;
    assert.ok(page.includes(block), `docs/clients/${name}.md must have:\n${block}`);
  }
  assert.ok(globSync('docs/clients/*.md', { cwd: root }).length > clientNames.length);
});

test('a client sends what its session has, which is a file of its own or of its library', () => {
  for (const name of clientNames) {
    const text = readTemplate(`${name}/client.ts`);
    const { keepsSession = false } = clientRow(name);
    assert.match(text, keepsSession ? /const fetchAsUser: typeof fetch = / : /import \{ fetchAsUser, url \} from '\.\/session\.ts';/);
  }
});

test('variables and imports are as the kind of project has them', () => {
  const text =
    "import { client } from './client.ts';\nimport type { T } from './graphql-env.d.ts';\nconst url = process.env.GRAPHQL_URL;\n";
  assert.equal(adaptSource(text, project), text);
  assert.match(adaptSource(text, { ...project, kind: 'vite' }), /\.ts'[\s\S]*import\.meta\.env\.VITE_GRAPHQL_URL/);
  assert.equal(
    adaptSource(text, { ...project, kind: 'next' }),
    "import { client } from './client';\nimport type { T } from './graphql-env';\nconst url = process.env.NEXT_PUBLIC_GRAPHQL_URL;\n",
  );
  const session = adaptSource(readTemplate('session.ts'), { ...project, kind: 'next' });
  assert.match(session, /setTokenSource\(source: GetToken\): void \{\n {2}if \(!\('window' in globalThis\)\) throw new Error\(/);
  const inRoot = adaptConfiguration(readTemplate('codegen.ts'), { ...project, kind: 'next', sources: '.' });
  assert.match(inRoot, /'\.\/graphql\/gql\/': \{/);
  assert.match(inRoot, /'!graphql\/gql\/\*\*'\]/);
  assert.match(inRoot, /importExtension: '',/);
  assert.doesNotMatch(inRoot, /src/);
});

test('the first query selects what is asked for, with the name that its compiler wants', () => {
  for (const name of clientNames) {
    const text = firstQueryFile(name, '{ aCollection(first: 3) { edges { node { id $& } } } }');
    assert.match(text, /query \w+ \{ aCollection\(first: 3\) \{ edges \{ node \{ id \$& \} \} \} \}\n/);
    assert.doesNotMatch(text, /noteCollection/);
  }
  assert.match(firstQueryFile('relay', null), /query firstQuery \{/);
});

/** What each request had as its bearer. */
const bearers: (string | undefined)[] = [];
const keys: (string | string[] | undefined)[] = [];
const server = createServer(({ headers }, response) => {
  bearers.push(headers.authorization);
  keys.push(headers.apikey);
  response.writeHead(headers.authorization?.endsWith('revoked') ? 401 : 200).end('{}');
});
type Session = typeof import('../../../templates/session.ts');
let session: Session;
before(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  Object.assign(process.env, { ANON_KEY: 'the-key' });
  session = (await import(path.join(root, 'templates/session.ts'))) as Session;
});
after(() => {
  server.closeAllConnections();
  server.close();
});

/** A token that expires in so many seconds. */
const tokenFor = (seconds: number, signature: string): string =>
  `e30.${Buffer.from(JSON.stringify({ sub: 'ä?>', exp: Math.floor(Date.now() / 1000) + seconds })).toString('base64url')}.${signature}`;

test('the key is always sent, the token once there is one; it is fetched once, renewed before it expires, and after a refusal', async () => {
  const { fetchAsUser, setTokenSource } = session;
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const send = async () => (await fetchAsUser(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' })).status;
  const take = (): (string | undefined)[] => bearers.splice(0).map((each) => each?.split('.').at(-1));
  await send();
  assert.deepEqual(take(), [undefined]);

  const tokens = [tokenFor(3600, 'first')];
  const source = async (): Promise<string | null> => tokens.shift() ?? null;
  setTokenSource(source);
  await Promise.all([send(), send()]);
  await send();
  assert.deepEqual(take(), ['first', 'first', 'first']);

  tokens.push(tokenFor(20, 'short'), tokenFor(3600, 'renewed'));
  setTokenSource(source);
  await send();
  await send();
  assert.deepEqual(take(), ['short', 'renewed']);

  tokens.push(tokenFor(3600, 'revoked'), tokenFor(3600, 'next'));
  setTokenSource(source);
  assert.equal(await send(), 200);
  assert.deepEqual(take(), ['revoked', 'next']);

  tokens.push(tokenFor(3600, 'revoked'), tokenFor(3600, 'revoked'));
  setTokenSource(source);
  assert.equal(await send(), 401, 'it tries again once');
  assert.deepEqual(take(), ['revoked', 'revoked']);

  setTokenSource(() => Promise.reject(new Error('sign-in is down')));
  await assert.rejects(send(), /sign-in is down/);
  setTokenSource(async () => null);
  await send();
  assert.deepEqual(take(), [undefined]);
  assert.ok(keys.every((key) => key === 'the-key'));
});
