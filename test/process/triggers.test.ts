/** `rowgraph triggers`, the former name of a part of `rowgraph extension`, and `serve --schema-triggers`: what a superuser can do, and what everybody else is told. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { connectOnce } from '../../src/cli/check-database.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import { makeFolder, type Outcome, removeFolder, runCommand, startCommand } from './run-command.ts';

let home: string;
let server: PostgresServer;
let loginUrl: string;

before(async () => {
  home = await makeFolder();
  server = await startPostgres();
  await connectOnce(server.url, (client) =>
    client.query('create role anon; create role authenticator login noinherit; grant anon to authenticator'),
  );
  loginUrl = server.url.replace(/\/\/[^@]*@/, '//authenticator@');
});
after(async () => {
  await server.stop();
  await removeFolder(home);
});

const triggers = (action: string, url = server.url): Promise<Outcome> => runCommand(['triggers', action, '--database-url', url], { home });

const note = (former: string, name: string): string => `rowgraph: "rowgraph triggers ${former}" is "rowgraph extension ${name}" now\n`;

test('install, status and remove say what is so, and status tells by its exit code', async () => {
  const said = async (action: string): Promise<unknown[]> => {
    const { code, stdout, stderr } = await triggers(action);
    return [code, /is (not installed|installed)/.exec(stdout)?.[1], stderr];
  };
  assert.deepEqual(await said('status'), [1, 'not installed', note('status', 'status')]);
  assert.deepEqual(await said('install'), [0, 'installed', note('install', 'apply')]);
  assert.deepEqual(await said('install'), [0, 'installed', note('install', 'apply')]);
  assert.deepEqual(await said('status'), [0, 'installed', note('status', 'status')]);
  assert.deepEqual(await said('remove'), [0, 'not installed', note('remove', 'remove')]);
  assert.deepEqual(await said('remove'), [0, 'not installed', note('remove', 'remove')]);
});

test('what cannot be done is one line', async () => {
  const denied = await triggers('install', loginUrl);
  assert.deepEqual([denied.code, denied.stdout], [2, '']);
  assert.match(denied.stderr, /\nrowgraph: authenticator cannot install the extension \(permission denied.*\); log in as a superuser\n$/);
  const wrong = await triggers('upgrade');
  assert.equal(wrong.code, 2);
  assert.match(wrong.stderr, /^rowgraph: the action must be install, remove or status \(it is "upgrade"\)\n$/);
});

test('serve installs them where the setting says so and the login may, and needs no right where they are there', async () => {
  const environment = { ROWGRAPH_JWT_SECRET: 'a secret that has more than 32 characters', ROWGRAPH_PORT: '0' };
  const serve = (url: string) => startCommand(['serve', '--schema-triggers', '--database-url', url], { home, environment });
  const refused = await serve(loginUrl).ended;
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /rowgraph: --schema-triggers: authenticator cannot install event triggers .*"rowgraph extension apply"/);

  const first = serve(server.url);
  await first.waitFor(/rowgraph serves/);
  await first.stop();
  assert.equal((await triggers('status')).code, 0);
  const second = serve(loginUrl);
  await second.waitFor(/rowgraph serves/);
  assert.equal((await second.stop()).code, 0);
});
