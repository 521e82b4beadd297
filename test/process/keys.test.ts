/** Opaque keys and revoked tokens on the command line: made, accepted, taken back while the server runs, and files that are wrong. */
import assert from 'node:assert/strict';
import { rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { signKey } from '../../src/auth/sign-key.ts';
import { until } from '../support/until.ts';
import { makeFolder, removeFolder, runCommand, startCommand } from './run-command.ts';

const secret = 'a secret that has more than 32 characters';
let home: string;
before(async () => {
  home = await makeFolder();
});
after(() => removeFolder(home));

const serve = ['serve', '--database-url', 'postgres://nobody@127.0.0.1:1/none'];

async function makeKey(name: string, role: string): Promise<{ key: string; entry: object }> {
  const { code, stdout, stderr } = await runCommand(['keys', '--opaque', name, '--role', role], { home });
  assert.deepEqual([code, stderr], [0, '']);
  const [key = '', entry = '', ...more] = stdout.split('\n');
  assert.deepEqual(more, ['']);
  assert.ok(!entry.includes(key));
  return { key, entry: JSON.parse(entry) };
}

test('a key is accepted as long as its entry is in the file, and a token until it is on the list', async () => {
  const [web, worker] = await Promise.all([makeKey('web', 'anon'), makeKey('worker', 'service_role')]);
  assert.match(web.key, /^rg_publishable_[\w-]{43}$/);
  assert.match(worker.key, /^rg_secret_[\w-]{43}$/);
  await writeFile(path.join(home, 'keys.json'), JSON.stringify({ ...web.entry, ...worker.entry }));
  await writeFile(path.join(home, 'revoked.json'), '[]');
  // Where there is no database, whoever is known gets 503.
  const flags = ['--port', '0', '--api-keys', 'keys.json', '--revoked-tokens', 'revoked.json', '--jwt-secret', secret];
  const command = startCommand([...serve, ...flags], { home });
  try {
    const url = /"url":"([^"]+)"/.exec(await command.waitFor(/"msg":"serving"/, 'stderr'))?.[1];
    const statusOf = async (apiKey: string, token?: string): Promise<number> => {
      const headers = { apiKey, ...(token !== undefined && { authorization: `Bearer ${token}` }) };
      const response = await fetch(`${url}/graphql/v1?query=%7B__typename%7D`, { headers });
      await response.arrayBuffer();
      return response.status;
    };
    const token = await signKey(secret, 'authenticated', '1h', { session_id: 'stolen' });
    const other = await signKey(secret, 'authenticated', '1h', { session_id: 'other' });
    for (const key of [web.key, worker.key]) {
      assert.equal(await statusOf(key), 503);
      assert.equal(await statusOf(key, key), 503);
      assert.equal(await statusOf(key, token), 503);
      assert.equal(await statusOf(key, `${token}x`), 401);
      assert.equal(await statusOf(`${key}x`, token), 401);
    }
    await writeFile(path.join(home, 'revoked.json.new'), '[{"session_id":"stolen"}]');
    await rename(path.join(home, 'revoked.json.new'), path.join(home, 'revoked.json'));
    await writeFile(path.join(home, 'keys.json'), JSON.stringify(web.entry));
    await until(async () => (await statusOf(web.key, token)) === 401);
    await until(async () => (await statusOf(worker.key)) === 401);
    assert.deepEqual([await statusOf(web.key), await statusOf(web.key, other)], [503, 503]);
    // What is broken or gone changes nothing, and is said in a line.
    await rm(path.join(home, 'revoked.json'));
    await writeFile(path.join(home, 'keys.json'), `{"web": "${web.key}`);
    const log = await command.waitFor(/failed to read the API keys/, 'stderr');
    await command.waitFor(/failed to read the revoked tokens/, 'stderr');
    assert.deepEqual([await statusOf(web.key), await statusOf(web.key, token)], [503, 401]);
    for (const unwanted of [web.key, worker.key, secret, token]) assert.ok(!log.includes(unwanted), log);
    for (const line of log.split('\n').filter((each) => each.includes('failed to read'))) assert.ok(!line.includes('stack'), line);
  } finally {
    await command.stop();
  }
});

test('files that are wrong at the start, and keys that would be refused, are one line and exit code 2', async () => {
  await writeFile(path.join(home, 'wrong.json'), '{"web":{"role":"anon"}}');
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [[...serve, '--api-keys', 'nowhere.json'], /^rowgraph: --api-keys: ENOENT.*nowhere\.json.*\n$/],
    [[...serve, '--api-keys', 'wrong.json'], /^rowgraph: --api-keys: wrong\.json: the key "web" must have a "hash".*\n$/],
    [
      [...serve, '--jwt-secret', secret, '--revoked-tokens', 'wrong.json'],
      /^rowgraph: --revoked-tokens: wrong\.json: must hold a JSON array\n$/,
    ],
    [serve, /^rowgraph: --jwt-secret is missing.*or give --jwt-keys or --supabase or --api-keys or --projects\n$/],
    [['keys', '--opaque', 'web'], /^rowgraph: --opaque requires a name, and --role\n$/],
    [['keys', '--opaque', 'web', '--role', 'none'], /^rowgraph: --role must be the name of a database role \(it is "none"\)\n$/],
    [['keys', '--opaque', 'web', '--role', 'anon', '--claims', '[]'], /^rowgraph: --claims must be a JSON object\n$/],
    [
      ['keys', '--opaque', 'web', '--role', 'anon', '--expires', 'soon'],
      /^rowgraph: --expires must be a time such as .* \(it is "soon"\)\n$/,
    ],
  ];
  await Promise.all(
    cases.map(async ([command, message]) => {
      const { code, stdout, stderr } = await runCommand(command, { home });
      assert.deepEqual([code, stdout], [2, ''], command.join(' '));
      assert.match(stderr, message);
    }),
  );
});
