/**
 * Whether a request comes from this server's own page, in a browser on this machine. In: an exchange; out: nothing, or an error. Other sites that are open in
 * the same browser are refused, whether they send forms, fetch, or let a name of theirs lead to this machine (DNS rebinding); so are proxies.
 */
import { BlockList, isIPv6 } from 'node:net';
import { ApiError } from '../errors.ts';
import type { Exchange } from './exchange.ts';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8);
loopback.addAddress('::1', 'ipv6');

/** Headers by which proxies say for whom they ask. */
const proxyHeaders = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip'] as const;

/** Throws BAD_REQUEST for all other requests. */
export function checkLocalPage({ headers, remoteAddress }: Exchange): void {
  const { host = '', origin } = headers;
  const site = headers['sec-fetch-site'];
  if (!isLoopbackAddress(remoteAddress)) throw refuse('it comes from another machine');
  if (proxyHeaders.some((name) => headers[name] !== undefined)) throw refuse('it came through a proxy');
  if (!isLoopbackHost(hostNameOf(host))) throw refuse('its Host header names another host');
  if (origin !== `http://${host}`) throw refuse('its Origin header does not name this server');
  if (site !== undefined && site !== 'same-origin') throw refuse('another site sent it');
}

/** Whether a server that listens on the host is reached from this machine alone. */
export function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || isLoopbackAddress(host);
}

function isLoopbackAddress(address: string): boolean {
  return loopback.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

/** Without the port, and without the brackets of an IPv6 address; '' if it is not a host. */
function hostNameOf(host: string): string {
  if (!URL.canParse(`http://${host}`)) return '';
  const { hostname, host: parsed } = new URL(`http://${host}`);
  // Where a URL has more than a host, or another one than was written, browsers and this server may read it differently.
  return host === parsed || host === `${hostname}:80` ? hostname.replace(/^\[(.*)\]$/, '$1') : '';
}

function refuse(reason: string): ApiError {
  return new ApiError('BAD_REQUEST', `Only the page of "rowgraph dev" may send this request, from the same machine: ${reason}.`);
}
