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

/** Undefined without URLs. Nothing is known of a replica before it has been looked at, so the first queries run on the primary. */
export function openReplicas({ urls = [], maxLagMillis, open, ...rest }: OpenOptions): Replicas | undefined {
  const hosts = new Map([urls].flat().flatMap((url) => parseDatabaseUrl(url).hosts.map((host) => [hostOf(host), host])));
  if (hosts.size === 0) return undefined;
  const replicas = [...hosts].map(([name, host]) => [name, () => open(host)] as const);
  return new Replicas({ ...rest, replicas, maxLagMillis: maxLagMillis ?? settings.maxReplicaLag.default });
}
