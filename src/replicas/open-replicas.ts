/** Opens the replicas that settings name. */
import type { Database, RequestDatabase } from '../database/database.ts';
import type { Observer } from '../events.ts';
import { hostOf, parseDatabaseUrl } from '../settings/database-url.ts';
import { settings } from '../settings/settings.ts';
import { Replicas } from './replicas.ts';

interface OpenOptions {
  /** Each host of each URL is a replica, or may become one. */
  readonly urls: string | readonly string[] | undefined;
  readonly maxLagMillis: number | undefined;
  readonly primary: RequestDatabase;
  readonly isOnBudget: boolean;
  /** Opens the pool of connections to one host. */
  readonly open: (url: string) => Database;
  readonly observe: Observer;
}

/**
 * Undefined without URLs. Nothing is known of a replica before it has been looked at, so the first queries run on the primary.
 *
 * A pooler may stand for several servers, by the names of databases: then their names are numbered.
 */
export function openReplicas({ urls = [], maxLagMillis, open, ...rest }: OpenOptions): Replicas | undefined {
  const hosts = [...new Set([urls].flat().flatMap((url) => parseDatabaseUrl(url).hosts))];
  if (hosts.length === 0) return undefined;
  const names = hosts.map(hostOf);
  const nameOf = (name: string, index: number): string => (names.indexOf(name) === names.lastIndexOf(name) ? name : `${name}#${index + 1}`);
  const replicas = hosts.map((host, index) => [nameOf(names[index]!, index), () => open(host)] as const);
  return new Replicas({ ...rest, replicas, maxLagMillis: maxLagMillis ?? settings.maxReplicaLag.default });
}
