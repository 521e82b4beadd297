/** TLS to PostgreSQL, as the URL asks for it: requests, cancel requests, and what is said of a certificate that cannot be checked. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chown, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import type { Caller } from '../../src/engine/request.ts';
import { createRowgraph, type Rowgraph } from '../../src/index.ts';
import { isInstalled } from '../deploy/start-proxy.ts';
import { type Outcome, runCommand } from '../process/run-command.ts';
import { startTestDatabases, type TestDatabase, type TestDatabases } from '../support/test-databases.ts';

const run = promisify(execFile);
const setup = `
  create function is_encrypted() returns bool stable security definer language sql as
    $$ select ssl from pg_catalog.pg_stat_ssl where pid = pg_catalog.pg_backend_pid() $$;
  create function backend() returns int stable language sql as 'select pg_backend_pid()';
  create function held() returns int stable language sql as 'select 7 from pg_advisory_xact_lock_shared(1)';
`;
const caller: Caller = { role: 'anon' };
const skip = (await isInstalled('openssl', 'version')) ? false : 'there is no openssl on the path, or this is not Linux';

describe('a server with TLS', { skip }, () => {
  let folder: string;
  let authority: string;
  let databases: TestDatabases;
  let database: TestDatabase;

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'rowgraph-tls-'));
    authority = path.join(folder, 'certificate.pem');
    const key = path.join(folder, 'key.pem');
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1', '-days', '2'];
    await run('openssl', [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'],
      ...['-keyout', key, '-out', authority, ...subject],
    ]);
    // Root's servers run as nobody.
    if (process.getuid?.() === 0) for (const each of [folder, key, authority]) await chown(each, 65534, 65534);
    databases = await startTestDatabases({ settings: { ssl: 'on', ssl_cert_file: authority, ssl_key_file: key } });
    database = await databases.create(setup);
  });
  after(async () => {
    await databases?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const urlWith = (parameters: Readonly<Record<string, string>>): string => `${database.url}?${new URLSearchParams(parameters)}`;

  async function withGraph(url: string, use: (graph: Rowgraph) => Promise<void>): Promise<void> {
    const graph = await createRowgraph({ database: url, poolSize: 1 });
    try {
      await use(graph);
    } finally {
      await graph.close();
    }
  }

  for (const [sslmode, isEncrypted] of [
    ['verify-full', true],
    ['no-verify', true],
    ['disable', false],
  ] as const) {
    test(`sslmode=${sslmode}`, async () => {
      await withGraph(urlWith({ sslmode, sslrootcert: authority }), async (graph) => {
        assert.deepEqual(await graph.execute({ query: '{ is_encrypted }' }, caller), { data: { is_encrypted: isEncrypted } });
      });
    });
  }

  for (const sslnegotiation of ['postgres', 'direct']) {
    const name = `a request that its client gives up is cancelled over TLS (${sslnegotiation}), and its connection serves the next`;
    test(name, async (context) => {
      if (sslnegotiation === 'direct' && databases.version < 17) return context.skip('PostgreSQL 17 is the first to take it');
      const lock = await database.connect('postgres');
      await lock.query('select pg_advisory_lock(1)');
      const url = urlWith({ sslmode: 'verify-full', sslrootcert: authority, sslnegotiation });
      await withGraph(url, async (graph) => {
        const before = await graph.execute({ query: '{ backend }' }, caller);
        const controller = new AbortController();
        const asked = graph.execute({ query: '{ held }' }, caller, { signal: controller.signal });
        await database.untilLocked('held', 1);
        controller.abort();
        await asked;
        assert.deepEqual(await graph.execute({ query: '{ backend }' }, caller), before);
      });
      await lock.query('select pg_advisory_unlock(1)');
    });
  }

  test('a file of the URL that goes missing fails the connections that need it, until it is back', async () => {
    const failures: unknown[] = [];
    const graph = await createRowgraph({
      database: urlWith({ sslmode: 'verify-full', sslrootcert: authority }),
      poolSize: 1,
      observe: (event) => {
        if (event.kind === 'pool-failed') failures.push(event.error);
      },
    });
    await rename(authority, `${authority}.away`);
    await database.run("select pg_terminate_backend(pid) from pg_stat_activity where usename = 'authenticator'");
    const { errors } = await graph.execute({ query: '{ is_encrypted }' }, caller);
    assert.equal(errors?.[0]?.extensions.code, 'DATABASE_UNAVAILABLE');
    assert.match(String(failures.at(-1)), /ENOENT/);
    await rename(`${authority}.away`, authority);
    assert.deepEqual(await graph.execute({ query: '{ is_encrypted }' }, caller), { data: { is_encrypted: true } });
    await graph.close();
  });

  const serve = (url: string): Promise<Outcome> =>
    runCommand(['serve', '--port', '0'], {
      home: folder,
      environment: { ROWGRAPH_DATABASE_URL: url, ROWGRAPH_JWT_SECRET: 'a secret that has more than 32 characters' },
    });

  test('serve says what to do about a certificate of an unknown authority', async () => {
    const url = urlWith({ sslmode: 'verify-full' });
    const { code, stderr } = await serve(url);
    const what = 'its certificate is signed by an unknown authority';
    const remedy = 'add the certificate of that authority to the URL: sslrootcert=FILE';
    assert.deepEqual([code, stderr], [2, `rowgraph: cannot use the database ${url}: ${what}; ${remedy}\n`]);
  });

  test('serve refuses a URL that names a file which is not there, in one line', async () => {
    const url = urlWith({ sslmode: 'verify-full', sslrootcert: '/nowhere' });
    const { code, stderr } = await serve(url);
    const why = "ENOENT: no such file or directory, open '/nowhere'";
    assert.deepEqual([code, stderr], [2, `rowgraph: cannot use the database ${url}: ${why}\n`]);
  });
});
