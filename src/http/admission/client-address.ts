/** Finds the client that a request is counted for. */

import { isIP, isIPv4, isIPv6, type Socket } from 'node:net';
import type { ProxyTrust } from '../../settings/check-settings.ts';

/**
 * The address nearest to this server that is not a trusted proxy's. `forwarded` is the X-Forwarded-For header, to which each proxy appends
 * the address that connected to it.
 */
export function findClientAddress(remote: string, forwarded: string | string[] | undefined, isTrusted: ProxyTrust): string {
  let client = plainAddress(remote);
  const hops = String(forwarded ?? '').split(',');
  while (isTrusted(client)) {
    const hop = plainAddress(hops.pop() ?? '');
    if (isIP(hop) === 0) break;
    client = hop;
  }
  return client;
}

/**
 * The addresses that count as one client: a single IPv4 address, or a /64 network of IPv6. A /64 is the smallest network that is assigned
 * (RFC 6177), so a single host may have all of its addresses.
 */
export function addressBlock(address: string): string {
  const plain = plainAddress(address);
  if (!isIPv6(plain)) return plain;
  const [head = '', tail] = plain.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const groups =
    tail === undefined ? left : [...left, ...Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => '0'), ...right];
  const network = groups.slice(0, 4).map((group) => group.toLowerCase().replace(/^0+(?=.)/, ''));
  return `${network.join(':')}::/64`;
}

/** What an entry of the header may hold besides the address: quotes, the brackets of an IPv6 address, and a port. */
const entryPattern = /^(?:\[(?<bracketed>[^\]]*)\](?::\d+)?|(?<withPort>[\d.]+):\d+)$/;

/** The address alone: without quotes, brackets, port and zone; an IPv4-mapped IPv6 address as plain IPv4. */
function plainAddress(entry: string): string {
  const unquoted = entry.trim().replace(/^"(.*)"$/, '$1');
  const { bracketed, withPort } = entryPattern.exec(unquoted)?.groups ?? {};
  const zoneless = (bracketed ?? withPort ?? unquoted).split('%', 1)[0] ?? '';
  const mapped = zoneless.slice(0, 7).toLowerCase() === '::ffff:' ? zoneless.slice(7) : '';
  return isIPv4(mapped) ? mapped : zoneless;
}

/**
 * The address of the peer of a socket; '' if it has gone. The peer on a Unix socket has no address, but it is on this machine, so it counts
 * as 127.0.0.1. A TCP socket has a local address even if the other one can no longer be read.
 */
export function peerAddress(socket: Partial<Pick<Socket, 'remoteAddress' | 'localAddress' | 'destroyed'>>): string {
  const { remoteAddress, localAddress, destroyed } = socket;
  return remoteAddress ?? (localAddress === undefined && !destroyed ? '127.0.0.1' : '');
}
