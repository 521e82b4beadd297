/**
 * A snapshot of the database's schema: the catalog, read once, and the `RoleSchema` of each role, made when the role first asks.
 */
import { LRUCache } from 'lru-cache';
import type { Limits } from '../budget/limits.ts';
import { runInSlices } from '../budget/slices.ts';
import type { Catalog, Privileges } from '../catalog/catalog.ts';
import { loadCatalog } from '../catalog/load-catalog.ts';
import { loadPrivileges } from '../catalog/load-privileges.ts';
import { loadRoleDefaults } from '../catalog/load-role-defaults.ts';
import type { Database } from '../database/database.ts';
import { ApiError, quote } from '../errors.ts';
import type { CacheStatistics, Observer } from '../events.ts';
import { readFingerprint } from '../freshness/read-fingerprint.ts';
import type { SchemaStamp } from '../freshness/schema-stamp.ts';
import { buildModel } from '../model/build-model.ts';
import { checkDirectives } from '../model/check-directives.ts';
import type { Model } from '../model/model.ts';
import { buildSchema } from '../schema/build-schema.ts';
import { identifier, render } from '../sql/sql.ts';
import type { CacheSizes } from './cache-sizes.ts';
import type { SchemaCacheUses } from './cache-use.ts';
import { IntrospectionCache } from './introspection-cache.ts';
import type { CachedDocument, RoleSchema } from './role-schema.ts';

export interface SnapshotSettings {
  readonly schemas: readonly string[];
  /** Schemas that names are looked up in as well. */
  readonly extraSearchPath: readonly string[];
  readonly introspection: 'directive' | 'on' | 'off';
  readonly caches: CacheSizes;
  /** Privileged roles that requests may run as nevertheless. */
  readonly trustedRoles: readonly string[];
  readonly limitsOf: (role: string) => Limits;
  readonly reportsCost: boolean;
  /** Where lookups are counted. */
  readonly uses: SchemaCacheUses;
}

/** Roles that are kept at a time: tokens may name any role that the login role may assume. */
const maxRoles = 100;

export class SchemaSnapshot {
  readonly #version: string | null;
  readonly #fingerprint: string;
  readonly #catalog: Catalog;
  readonly #settings: SnapshotSettings;
  readonly #searchPath: string;
  readonly #roleSchemas = new LRUCache<string, RoleSchema | Promise<RoleSchema>>({ max: maxRoles });
  readonly #introspectionCache: IntrospectionCache;
  /** The comment directives that are ignored, as text. */
  readonly ignoredDirectives: readonly string[];
  #made = 0;

  private constructor(
    catalog: Catalog,
    ignoredDirectives: readonly string[],
    { version, fingerprint }: SchemaStamp,
    settings: SnapshotSettings,
  ) {
    this.#catalog = catalog;
    this.ignoredDirectives = ignoredDirectives;
    this.#version = version;
    this.#fingerprint = fingerprint;
    this.#settings = settings;
    this.#introspectionCache = new IntrospectionCache(settings.caches.introspectionBytes, settings.uses.introspection);
    this.#searchPath = [...settings.schemas, ...settings.extraSearchPath].map((schema) => render(identifier(schema)).text).join(', ');
  }

  /** Reads the catalog. The stamp must be read before it. */
  static async load(database: Database, stamp: SchemaStamp, settings: SnapshotSettings): Promise<SchemaSnapshot> {
    const catalog = await loadCatalog(database, settings.schemas);
    const problems = await runInSlices(checkDirectives(catalog));
    // An unknown member may belong to another tool.
    const ignored = problems.filter(({ fault }) => fault !== 'unknown member');
    return new SchemaSnapshot(
      catalog,
      ignored.map(({ object, name, message }) => `${object} ${name}: ${message}`),
      stamp,
      settings,
    );
  }

  /**
   * The API of a role, synchronously if it is cached. Rejects with UNAUTHENTICATED for a role that does not exist.
   */
  of(role: string, database: Database): RoleSchema | Promise<RoleSchema> {
    const known = this.#roleSchemas.get(role);
    if (known) return known;
    const making = this.#make(role, database);
    this.#roleSchemas.set(role, making);
    making.then(
      (made) => {
        if (this.#roleSchemas.peek(role) === making) this.#roleSchemas.set(role, made);
      },
      // Failures are not cached: the next request tries again.
      () => this.#roleSchemas.delete(role),
    );
    return making;
  }

  /** The roles whose API has been asked for. */
  roles(): readonly string[] {
    return [...this.#roleSchemas.keys()];
  }

  /** The statistics of the caches of all roles. */
  readCaches(): readonly CacheStatistics[] {
    const { document, variant, introspection } = this.#settings.uses;
    const known = [...this.#roleSchemas.values()].flatMap((roleSchema) =>
      roleSchema instanceof Promise ? [] : [...roleSchema.documents.values()],
    );
    const variants = known.reduce((sum, { compiled }) => sum + compiled.size, 0);
    return [document.read(known.length), variant.read(variants), introspection.read(this.#introspectionCache.size)];
  }

  async #make(role: string, database: Database): Promise<RoleSchema> {
    // No role can have such a name, and PostgreSQL could not even be asked.
    if (role.includes('\0') || !role.isWellFormed()) throw new ApiError('UNAUTHENTICATED', `role ${quote(role)} does not exist`);
    const [privileges, roleDefaults] = await Promise.all([loadPrivileges(database, this.#catalog, role), loadRoleDefaults(database, role)]);
    // Privileges read at another time than the catalog serve only this request: they may be revoked, and the catalog be right again.
    if ((await readFingerprint(database, this.#settings.schemas)) !== this.#fingerprint) this.#roleSchemas.delete(role);
    const model = await runInSlices(buildModel(this.#catalog, privileges));
    const { documents: max, documentText: maxSize } = this.#settings.caches;
    this.#made += 1;
    return {
      id: this.#made,
      model,
      refusal: this.#settings.trustedRoles.includes(role) && privileges.assumable ? null : refusalOf(privileges),
      schema: buildSchema(model),
      introspected: introspectableModel(model, this.#settings.introspection),
      introspectionCache: this.#introspectionCache,
      version: this.#version,
      searchPath: this.#searchPath,
      limits: this.#settings.limitsOf(role),
      reportsCost: this.#settings.reportsCost,
      roleDefaults,
      uses: this.#settings.uses,
      documents: new LRUCache<string, CachedDocument>({ max, maxSize, sizeCalculation: (_, query) => query.length + 1 }),
    };
  }
}

/** Loads the snapshot that takes the place of `previous`, with the schemas of the roles that were asked for, and reports it. */
export async function loadSnapshot(
  database: Database,
  settings: SnapshotSettings,
  observe: Observer,
  stamp: SchemaStamp,
  previous: SchemaSnapshot | null,
): Promise<SchemaSnapshot> {
  const start = performance.now();
  const snapshot = await SchemaSnapshot.load(database, stamp, settings);
  await Promise.allSettled((previous?.roles() ?? []).map((role) => snapshot.of(role, database)));
  if (snapshot.ignoredDirectives.length > 0) observe({ kind: 'directives-ignored', problems: snapshot.ignoredDirectives });
  observe({ kind: 'schema-loaded', version: stamp.version, seconds: (performance.now() - start) / 1000 });
  return snapshot;
}

/** Why no request may run as an untrusted role: if a token could name it, the JWT secret would open the whole database. */
function refusalOf({ role, assumable, isLogin, powers }: Privileges): string | null {
  if (!assumable) return `permission denied to set role "${role}"; grant it to the login role`;
  const power = powers[0];
  if (!isLogin && power === undefined) return null;
  const reason = isLogin ? 'is the login role' : powers.includes(role) ? 'has special privileges' : `is a member of "${power}"`;
  return `role "${role}" ${reason}; to let requests run as it, add it to trustedRoles`;
}

/** The part of a model that introspection shows: objects of schemas whose comment directive enables it, or all, or none. */
function introspectableModel(model: Model, setting: SnapshotSettings['introspection']): Model | null {
  if (setting === 'off' || (setting === 'directive' && !model.introspection)) return null;
  const isIntrospectable = ({ introspection }: { readonly introspection: boolean }) => setting === 'on' || introspection;
  const parts = [model.tables, model.rowTypes, model.routines, model.enums];
  if (parts.every((part) => part.every(isIntrospectable))) return model;
  return {
    ...model,
    tables: model.tables.filter(isIntrospectable),
    rowTypes: model.rowTypes.filter(isIntrospectable),
    routines: model.routines.filter(isIntrospectable),
    enums: model.enums.filter(isIntrospectable),
  };
}
