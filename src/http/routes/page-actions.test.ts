import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Exchange } from '../endpoint/exchange.ts';
import { checkLocalPage } from './page-actions.ts';

const check = (remoteAddress: string, headers: Exchange['headers']): void => checkLocalPage({ remoteAddress, headers } as Exchange);
const ofPage = { host: 'localhost:4000', origin: 'http://localhost:4000', 'sec-fetch-site': 'same-origin' };

test('the page on this machine is accepted, under any name of the machine', () => {
  for (const address of ['127.0.0.1', '127.9.8.7', '::1']) check(address, ofPage);
  for (const host of ['127.0.0.1:4000', '[::1]:4000', 'localhost']) check('::1', { host, origin: `http://${host}` });
});

test('another machine is rejected, whatever its headers', () => {
  for (const address of ['192.0.2.7', '10.0.0.1', '2001:db8::1', '::', '0.0.0.0', ''])
    assert.throws(() => check(address, ofPage), { code: 'BAD_REQUEST', message: /it comes from another machine/ }, address);
});

test('a Host header that is not a host, or is more than one, is rejected', () => {
  for (const host of [undefined, '', 'localhost:4000/', 'user@localhost:4000', 'localhost:99999', 'a b', 'LOCALHOST.example', '127.1:4000'])
    assert.throws(() => check('127.0.0.1', { ...ofPage, host, origin: `http://${host}` }), { code: 'BAD_REQUEST', message: /Host/ }, host);
});
