import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readProxyTrust } from '../../settings/check-settings.ts';
import { addressBlock, findClientAddress, peerAddress } from './client-address.ts';

test('a client is an IPv4 address, or the first 64 bits of an IPv6 address', () => {
  const blocks: readonly (readonly [address: string, block: string])[] = [
    ['10.1.2.3', '10.1.2.3'],
    ['::ffff:10.1.2.3', '10.1.2.3'],
    ['::FFFF:10.1.2.3', '10.1.2.3'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::9', '2001:db8:1:2::/64'],
    ['2001:db8::9', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['2001:db8:1:2:3::', '2001:db8:1:2::/64'],
    ['', ''],
    ['192.0.2.1:51234', '192.0.2.1'],
  ];
  for (const [address, block] of blocks) assert.equal(addressBlock(address), block);
});

test('X-Forwarded-For is believed as far as the proxies are trusted', () => {
  const cases: readonly (readonly [trust: boolean | string, remote: string, forwarded: string | undefined, client: string])[] = [
    ['10.0.0.0/8', '192.0.2.1', '198.51.100.7', '192.0.2.1'],
    ['10.0.0.0/8', '10.0.0.1', '198.51.100.7', '198.51.100.7'],
    ['10.0.0.0/8', '::ffff:10.0.0.1', '198.51.100.7', '198.51.100.7'],
    ['10.0.0.0/8', '10.0.0.1', '203.0.113.9, 198.51.100.7', '198.51.100.7'],
    ['10.0.0.0/8', '10.0.0.1', '198.51.100.7, 10.0.0.2', '198.51.100.7'],
    ['10.0.0.1', '10.0.0.1', '198.51.100.7, 10.0.0.2', '10.0.0.2'],
    ['loopback, uniquelocal', '127.0.0.1', '198.51.100.7,192.168.3.4', '198.51.100.7'],
    ['::1', '::1', '2001:db8::9', '2001:db8::9'],
    [true, '10.0.0.1', '203.0.113.9, 198.51.100.7', '203.0.113.9'],
    [true, '10.0.0.1', undefined, '10.0.0.1'],
    ['10.0.0.1', '10.0.0.1', '203.0.113.7:51234', '203.0.113.7'],
    ['10.0.0.1', '10.0.0.1', '198.51.100.7, "203.0.113.7:51234"', '203.0.113.7'],
    ['10.0.0.0/8', '10.0.0.1', '203.0.113.7,10.0.0.2:80', '203.0.113.7'],
    ['10.0.0.1', '10.0.0.1', '[2001:db8::1]:443', '2001:db8::1'],
    ['10.0.0.1', '10.0.0.1', '[2001:db8::1]', '2001:db8::1'],
    ['10.0.0.1', '10.0.0.1', '"[2001:db8::1]"', '2001:db8::1'],
    ['10.0.0.1', '10.0.0.1', '"[2001:db8::1]:443"', '2001:db8::1'],
    ['10.0.0.1', '10.0.0.1', '[::ffff:203.0.113.7]:443', '203.0.113.7'],
    ['10.0.0.1', '10.0.0.1', '[203.0.113.7', '10.0.0.1'],
    ['10.0.0.1', '10.0.0.1', '203.0.113.7:', '10.0.0.1'],
    [true, '10.0.0.1', 'unknown', '10.0.0.1'],
    [true, '10.0.0.1', '"; drop', '10.0.0.1'],
  ];
  for (const [trust, remote, forwarded, client] of cases) {
    const isTrusted = readProxyTrust(trust);
    assert.ok(isTrusted);
    assert.equal(findClientAddress(remote, forwarded, isTrusted), client);
  }
  assert.equal(readProxyTrust(false), null);
});

test('the peer on a Unix socket is on this machine; one that has gone is nowhere', () => {
  const local = { destroyed: false };
  assert.equal(peerAddress(local), '127.0.0.1');
  assert.equal(peerAddress({ ...local, destroyed: true }), '');
  assert.equal(peerAddress({ ...local, localAddress: '192.0.2.1' }), '');
  assert.equal(peerAddress({ ...local, remoteAddress: '192.0.2.2', localAddress: '192.0.2.1' }), '192.0.2.2');
});

test('a trusted proxy that is not an address is rejected', () => {
  for (const wrong of ['proxy.example', '10.0.0.0/33', '10.0.0.0/x', '10.0.0.0/', ''])
    assert.throws(() => readProxyTrust(wrong), /is not a proxy address/, wrong);
});
