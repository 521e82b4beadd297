/** The composition root: opens the database, watches its schema, and wires the engine. */
import type { Database } from './database/database.ts';
import { openDatabase } from './database/open-database.ts';
import { createMismatchReport } from './engine/prepare/prepare-request.ts';
import { SchemaCacheUses } from './engine/snapshot/caches.ts';
import { loadSnapshot } from './engine/snapshot/load-snapshot.ts';
import { OwnNames } from './engine/snapshot/role-standing.ts';
import type { SchemaSnapshot, SnapshotSettings } from './engine/snapshot/schema-snapshot.ts';
import { ApiError } from './errors/api-error.ts';
import { DatabaseError } from './errors/database-error.ts';
import { toApiError } from './errors/from-postgres.ts';
import { createSafeObserver } from './event-details.ts';
import type { Observer } from './events.ts';
import { currentVersion, isOlder } from './extension/extension-versions.ts';
import { installExtension } from './extension/install-extension.ts';
import { SchemaWatch, type SnapshotLoader } from './freshness/schema-watch.ts';
import { openChangeFeed } from './live/changes/open-change-feed.ts';
import type { LiveSettings } from './live/live-queries.ts';
import { openReplicas } from './replicas/replicas.ts';
import type { Rowgraph } from './rowgraph-interface.ts';
import {
  additionsOf,
  cacheSizesOf,
  checkRowgraphOptions,
  keyRolesOf,
  keyStoreOf,
  limitsByRole,
  type RowgraphOptions,
} from './rowgraph-options.ts';
import { RowgraphService } from './rowgraph-service.ts';
import { automatic, defaultRequestHeaders } from './settings/check-settings.ts';
import { settings as defaults } from './settings/settings.ts';

const ignore: Observer = () => {};

/** Opens rowgraph over a database and loads its schema. Rejects if the database cannot be reached. */
export async function createRowgraph(options: RowgraphOptions): Promise<Rowgraph> {
  checkRowgraphOptions(options);
  const observe = createSafeObserver(options.observe ?? ignore);
  const { poolSize, prepare, queue, connectionBudget: budget, timeout = defaults.requestTimeout.default } = options;
  const settings = snapshotSettingsOf(options, timeout, observe);
  const connections = {
    poolSize,
    prepare,
    statementCacheSize: settings.caches.statements,
    queueLength: queue?.length,
    queueBytes: queue?.bytes,
    queueTimeoutMillis: queue?.timeout,
    budget,
    observe,
  };
  const database = openDatabase(options.database, connections);
  const replicas = openReplicas({
    urls: options.replicaUrl,
    maxLagMillis: options.maxReplicaLag,
    primary: database,
    isOnBudget: budget !== undefined,
    open: (url) => openDatabase(url, { ...connections, isReplaceable: true }),
    observe,
  });
  try {
    if (options.schemaTriggers) await installExtension(database);
    const judgeExtension = observeOutdated(observe);
    const loader: SnapshotLoader<SchemaSnapshot> = {
      load: async (stamp, previous, onDoubt) => {
        judgeExtension(stamp.extension);
        const snapshot = await loadSnapshot(database, settings, observe, stamp, previous, onDoubt);
        await replicas?.noteSchema();
        return snapshot;
      },
      adopt: (snapshot, version, changes) => snapshot.adopt(version, changes),
      adoptUnchanged: (snapshot, version, changes) => snapshot.adoptUnchanged(version, changes),
      checkRoles: async (snapshot) => {
        await snapshot.checkRoles(database);
        await replicas?.noteSchema();
      },
    };
    const watch = await SchemaWatch.start(database, settings.schemas, loader, observe);
    const live = { ...liveSettingsOf(options, database, observe), replicas };
    return new RowgraphService({ database, replicas, observe }, settings, watch, timeout, live);
  } catch (error) {
    await Promise.all([database.close(), replicas?.close()]);
    throw error instanceof DatabaseError ? new ApiError(toApiError(error).code, error.message, { cause: error }) : error;
  }
}

function snapshotSettingsOf(options: RowgraphOptions, timeout: number, observe: Observer): SnapshotSettings {
  return {
    schemas: options.schemas ?? ['public'],
    extraSearchPath: options.extraSearchPath ?? [],
    introspection: options.introspection ?? 'directive',
    model: {
      nodeIdField: options.nodeIdField,
      requiredInputs: options.requiredInputs,
      json: options.json,
      additions: additionsOf(options),
    },
    caches: cacheSizesOf(options),
    trustedRoles: options.trustedRoles ?? [],
    limitsOf: limitsByRole(options),
    coercion: options.coercion ?? 'lenient',
    noteMismatches: createMismatchReport(observe),
    reportsCost: options.reportCost ?? false,
    keyStore: keyStoreOf(options, timeout),
    ownNames: new OwnNames(),
    mayUseKeys: keyRolesOf(options),
    requestSettings: options.requestSettings ?? [automatic],
    requestHeaders: options.requestHeaders ?? defaultRequestHeaders,
    uses: new SchemaCacheUses(),
  };
}

function liveSettingsOf(options: RowgraphOptions, database: Database, observe: Observer): LiveSettings {
  const { live = defaults.live.default, liveDatabaseUrl: url, timeout = defaults.requestTimeout.default } = options;
  return {
    intervalMillis: options.liveInterval ?? defaults.liveInterval.default,
    refreshMillis: options.liveRefresh ?? null,
    maxSubscriptions: options.maxSubscriptions ?? defaults.maxSubscriptions.default,
    cost: options.liveCost ?? defaults.liveCost.default,
    timeoutMillis: timeout,
    openFeed: (onChange) => openChangeFeed(database, { mode: live === 'off' ? 'poll' : live, url, observe }, onChange),
  };
}

/** Reports an outdated version of the extension, once per version. */
function observeOutdated(observe: Observer): (version: string | null) => void {
  const reported = new Set<string | null>([null]);
  return (version) => {
    if (version !== null && !reported.has(version) && isOlder(version, currentVersion)) {
      observe({ kind: 'extension-outdated', installed: version, current: currentVersion });
    }
    reported.add(version);
  };
}
