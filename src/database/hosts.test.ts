import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Hosts } from './hosts.ts';

/** Servers by host; what is not there refuses connections. */
type Servers = Record<string, { isStandby?: boolean; isReadOnly?: boolean; refusal?: object }>;

function connectTo(servers: Servers, log: string[] = []) {
  return async (url: string) => {
    const { hostname } = new URL(url);
    log.push(hostname);
    const server = servers[hostname];
    if (server === undefined || server.refusal !== undefined) throw Object.assign(new Error(`${hostname} refused`), server?.refusal);
    const row = [String(server.isStandby ?? false), server.isReadOnly ? 'on' : 'off'];
    return { hostname, query: async () => ({ rows: [row] }), end: async () => void log.push(`end ${hostname}`) };
  };
}

async function find(url: string, servers: Servers): Promise<string> {
  return (await new Hosts(url).connect(connectTo(servers))).hostname;
}

const cluster: Servers = { one: { isStandby: true }, two: { isReadOnly: true }, three: {} };

test('the first server is taken that is what the URL asks for', async () => {
  const found = { any: 'one', primary: 'two', 'read-write': 'three', 'read-only': 'one', standby: 'one', 'prefer-standby': 'one' };
  for (const [attributes, host] of Object.entries(found))
    assert.equal(await find(`postgres://one,two,three/app?target_session_attrs=${attributes}`, cluster), host, attributes);
});

test('of several hosts the primary is taken unless the URL says otherwise, of one whatever it is', async () => {
  assert.equal(await find('postgres://one,two/app', cluster), 'two');
  assert.equal(await find('postgres://one/app', cluster), 'one');
});

test('without a standby, a server that should be one is taken anyway', async () => {
  assert.equal(await find('postgres://two,three/app?target_session_attrs=prefer-standby', cluster), 'two');
});

test('the host that was found last is tried first, and the others when it is gone', async () => {
  const servers: Servers = { ...cluster };
  const log: string[] = [];
  const hosts = new Hosts('postgres://one,two,three/app');
  const connect = async () => (await hosts.connect(connectTo(servers, log))).hostname;
  assert.equal(await connect(), 'two');
  assert.equal(await connect(), 'two');
  assert.equal(new URL(hosts.current).hostname, 'two');
  delete servers.two;
  assert.equal(await connect(), 'three');
  assert.deepEqual(log, ['one', 'end one', 'two', 'two', 'two', 'three']);
});

test('the error names every host, unless a server says more', async () => {
  await assert.rejects(find('postgres://one,four/app', cluster), (error: AggregateError) => {
    assert.deepEqual(
      error.errors.map(({ message }) => message),
      ['one:5432 is not "primary", which target_session_attrs asks for', 'four refused'],
    );
    return true;
  });
  const full = { two: { refusal: { severity: 'FATAL', code: '53300' } } };
  await assert.rejects(find('postgres://one,two,four/app', { ...cluster, ...full }), /two refused/);
});
