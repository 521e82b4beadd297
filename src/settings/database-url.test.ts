import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkDatabaseUrl, hostOf, parseDatabaseUrl, withoutPassword } from './database-url.ts';

test('each host of a URL gets a URL of its own, with its port', () => {
  const query = '?target_session_attrs=primary';
  const { hosts, attributes } = parseDatabaseUrl(`postgres://user:secret@one:5433,[::1]:5434,three/app${query}`);
  assert.deepEqual(
    hosts,
    ['one:5433', '[::1]:5434', 'three'].map((host) => `postgres://user:secret@${host}/app${query}`),
  );
  assert.equal(attributes, 'primary');
  assert.deepEqual(hosts.map(hostOf), ['one:5433', '[::1]:5434', 'three:5432']);
});

test('hosts may be in the parameter "host", with one port or one for each', () => {
  const hostsOf = (url: string) => parseDatabaseUrl(url).hosts.map(hostOf);
  assert.deepEqual(hostsOf('postgresql:///app?host=one,two&port=1,2'), ['one:1', 'two:2']);
  assert.deepEqual(hostsOf('postgresql:///app?host=one,two&port=7'), ['one:7', 'two:7']);
});

test('a URL with one host stays as it is', () => {
  for (const url of ['postgres://user@one/app', 'postgres://%2Frun%2Fpg/app', '/run/postgresql app'])
    assert.deepEqual(parseDatabaseUrl(url), { hosts: [url], attributes: null, isBalanced: false });
});

test('TLS modes whose certificates pg verifies are verify-full, which it does not warn of', () => {
  const modesOf = (url: string) => parseDatabaseUrl(url).hosts.map((host) => new URL(host).searchParams.get('sslmode'));
  for (const mode of ['prefer', 'require', 'verify-ca', 'verify-full'])
    assert.deepEqual(modesOf(`postgres://one,two/app?x=1&sslmode=${mode}&y=2\n`), ['verify-full', 'verify-full']);
  for (const mode of ['disable', 'no-verify', 'require&uselibpqcompat=true'])
    assert.deepEqual(modesOf(`postgres://one/app?sslmode=${mode}`), [mode.replace(/&.*/, '')]);
});

test('wrong URLs are refused with what to write instead', () => {
  const refusals = [
    ['mysql://one/app', /must be a URL such as [^;]+$/],
    ['postgres://user:p/ss@one/app', /; in a password, write @ as %40/],
    ['postgres://user:p@ss/word@one/app', /; in a password, write @ as %40/],
    ['postgres://user:p#ss@one/app', /; in a password, write @ as %40/],
    ['postgres://user:1#ss@one/app', /; in a password, write @ as %40/],
    ['postgres://one:port,two/app', /must be a URL such as/],
    ['postgres://one/app?target_session_attrs=master', /target_session_attrs that is one of any, read-write/],
    ['postgres://one/app?load_balance_hosts=yes', /disable or random/],
    ['postgres:///app?host=one,two,three&port=1,2', /one port for all hosts, or one for each/],
  ] as const;
  for (const [url, message] of refusals) assert.throws(() => checkDatabaseUrl(url), message, url);
  checkDatabaseUrl('postgres://user@one:1,two:2/app?target_session_attrs=read-write');
});

test('a password is never shown', () => {
  assert.equal(withoutPassword('postgres://user:se@cret@one:1,two:2/app?password=secret&x=1'), 'postgres://user@one:1,two:2/app?x=1');
  assert.equal(withoutPassword('postgres://user:secret@one:1/app?password=secret'), 'postgres://user@one:1/app');
});
