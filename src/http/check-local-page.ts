/**
 * Checks that a request comes from this server's own page, in a browser on this machine. In: an exchange; out: nothing, or an error.
 * Rejects other sites that are open in the same browser, whether they submit forms, use fetch, or point a host name of theirs at this
 * machine (DNS rebinding), and rejects proxies.
 */
import { BlockList, isIPv6 } from 'node:net';
import { ApiError } from '../errors/api-error.ts';
import type { Exchange } from './exchange.ts';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8);
loopback.addAddress('::1', 'ipv6');

/** Headers in which proxies name the client that they forward for. */
const proxyHeaders = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip'] as const;

/** Throws BAD_REQUEST for any other request. */
export function checkLocalPage({ headers, remoteAddress }: Exchange): void {
  const { host = '', origin } = headers;
  const site = headers['sec-fetch-site'];
  if (!isLoopbackAddress(remoteAddress)) throw refuse('it comes from another machine');
  if (proxyHeaders.some((name) => headers[name] !== undefined)) throw refuse('it came through a proxy');
  if (!isLoopbackHost(hostNameOf(host))) throw refuse('its Host header names another host');
  if (origin !== `http://${host}`) throw refuse('its Origin header does not name this server');
  if (site !== undefined && site !== 'same-origin') throw refuse('another site sent it');
}

/** Whether a server that listens on the host can be reached only from this machine. */
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
  // If the parsed URL has more than a host, or a different host than was written, browsers and this server may read the header differently.
  return host === parsed || host === `${hostname}:80` ? hostname.replace(/^\[(.*)\]$/, '$1') : '';
}

function refuse(reason: string): ApiError {
  return new ApiError('BAD_REQUEST', `Only the page of "rowgraph dev" may send this request, from the same machine: ${reason}.`);
}
