/** `--trusted-documents` on the command line: what is reported at the start, and settings that make no sense. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { signKey } from '../../src/auth/sign-key.ts';
import { startPostgres } from '../support/postgres.ts';
import { grantsSql, rolesSql } from '../support/roles.ts';
import { until } from '../support/until.ts';
import { removeFolder, runCommand, startCommand } from './run-command.ts';
import { makeDevFolder } from './start-dev.ts';

const secret = 'a secret that has more than 32 characters';
let home: string;
before(async () => {
  home = await makeDevFolder();
});
after(() => removeFolder(home));

const serve = ['serve', '--database-url', 'postgres://nobody@127.0.0.1:1/none', '--jwt-secret', secret];

test('a file that is wrong, and the mode without a file, are one line and exit code 2', async () => {
  const without = await runCommand([...serve, '--only-trusted-documents'], { home });
  assert.deepEqual([without.code, without.stdout], [2, '']);
  assert.match(without.stderr, /^rowgraph: --only-trusted-documents refuses every request without --trusted-documents.*\n$/);
  const missing = await runCommand([...serve, '--trusted-documents', 'nowhere.json'], { home });
  assert.equal(missing.code, 2);
  const unnamed = await runCommand(['documents', '--database-url', 'postgres://nobody@127.0.0.1:1/none'], { home });
  assert.equal(unnamed.code, 2);
  const absent = await runCommand(['documents', '--database-url', 'postgres://nobody@127.0.0.1:1/none', '--trusted-documents', 'no.json'], {
    home,
  });
  assert.deepEqual([absent.code, absent.stdout], [2, '']);
  assert.match(absent.stderr, /^rowgraph: --trusted-documents: ENOENT.*no\.json.*\n$/);
  assert.match(unnamed.stderr, /^rowgraph: --trusted-documents is missing .*\n$/);
  assert.match(missing.stderr, /^rowgraph: --trusted-documents: ENOENT.*nowhere\.json.*\n$/);
});

test('dev reports invalid documents, and serves the others', async () => {
  await writeFile(path.join(home, 'documents.json'), '{"one":"{ __typename }","bad":"{ nothing }"}');
  const command = startCommand(
    ['dev', '--port', '0', '--trusted-documents', 'documents.json', '--only-trusted-documents', '--jwt-secret', secret],
    { home },
  );
  const stderr = await command.waitFor(/not valid for a role/, 'stderr');
  assert.match(stderr, /"problems":\["bad: Cannot query field/);
  await command.stop();
});

test('serve runs only trusted documents, over PostgreSQL, and sees new ones', async () => {
  const server = await startPostgres();
  const client = new pg.Client(server.url);
  await client.connect();
  await client.query(`${rolesSql} ${grantsSql} create table note (id int primary key); insert into note values (7)`);
  await client.end();
  const file = path.join(home, 'served.json');
  await writeFile(file, '{"bad":"{ nothing }","notes":"{ noteCollection { edges { node { id } } } }"}');
  const flags = ['--database-url', server.url, '--port', '0', '--trusted-documents', file, '--only-trusted-documents', '--server-timing'];
  const environment = {
    ROWGRAPH_JWT_SECRET: secret,
    ROWGRAPH_CACHE_CONTROL: 'private, max-age=5',
    ROWGRAPH_UNTRUSTED_ROLES: 'service_role',
  };
  const command = startCommand(['serve', ...flags], { home, environment });
  try {
    const url = /serves (\S+)/.exec(await command.waitFor(/serves \S+\n/))?.[1] ?? '';
    assert.match(
      await command.waitFor(/"role":"authenticated"[^\n]*not valid for a role/, 'stderr'),
      /"problems":\["bad: Cannot query field/,
    );
    const ask = async (search: string, role = 'anon'): Promise<Response> =>
      fetch(`${url}?${search}`, { headers: { apiKey: await signKey(secret, role) } });
    const good = await ask('documentId=notes');
    assert.deepEqual(await good.json(), { data: { noteCollection: { edges: [{ node: { id: 7 } }] } } });
    assert.equal(good.headers.get('cache-control'), 'private, max-age=5');
    assert.match(
      good.headers.get('server-timing') ?? '',
      /^auth;dur=[\d.]+, plan;dur=[\d.]+, queue;dur=[\d.]+, db;dur=[\d.]+, total;dur=[\d.]+$/,
    );
    assert.equal((await ask('query=%7B__typename%7D')).status, 403);
    assert.equal((await ask('query=%7B__typename%7D', 'service_role')).status, 200);
    const check = (...flags: string[]) =>
      runCommand(['documents', '--database-url', server.url, '--trusted-documents', file, ...flags], { home });
    const [ofAll, ofNobody] = await Promise.all([check(), check('--document-roles', 'nobody')]);
    const ofRole = '[a-z]+: 1 of 2 documents are valid\\n  bad: Cannot query field .*\\n';
    assert.match(ofAll.stdout, new RegExp(`^${ofRole}${ofRole}$`));
    assert.deepEqual([ofAll.code, ofAll.stderr], [1, 'rowgraph: 1 trusted document is not valid for every role\n']);
    assert.deepEqual([ofNobody.code, ofNobody.stderr], [2, 'rowgraph: --document-roles: role "nobody" does not exist\n']);
    const lenientFile = path.join(home, 'lenient.json');
    await writeFile(lenientFile, '{"of id":"query ($i: BigInt!) { noteCollection(filter: {id: {eq: $i}}) { edges { node { id } } } }"}');
    const checkLenient = (...more: string[]) => check('--trusted-documents', lenientFile, '--document-roles', 'anon', ...more);
    const [lenient, strict] = await Promise.all([checkLenient(), checkLenient('--coercion', 'strict')]);
    const mismatch = '$i is declared BigInt!, but filter.id.eq of "noteCollection" takes Int: declare it as Int!';
    assert.equal(lenient.stdout, `anon: 1 of 1 documents are valid\n  of id: --coercion strict would refuse it: ${mismatch}\n`);
    assert.deepEqual([lenient.code, strict.code], [0, 1]);
    assert.match(
      strict.stdout,
      /^anon: 0 of 1 documents are valid\n {2}of id: Variable "\$i" of type "BigInt!" used in position expecting type "Int"\.\n$/,
    );
    await writeFile(file, '{"new":"{ __typename }"}');
    await until(async () => (await ask('documentId=new')).status === 200);
    assert.equal((await ask('documentId=notes')).status, 403);
  } finally {
    await command.stop();
    await server.stop();
  }
});
