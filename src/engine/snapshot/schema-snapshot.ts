/** A snapshot of the database's schema: the catalog, read once, and the `RoleSchema` of each role, made when the role first asks. */
import { LRUCache } from 'lru-cache';
import type { Limits } from '../../budget/limits.ts';
import { runInSlices } from '../../budget/turns.ts';
import type { Catalog } from '../../catalog/catalog.ts';
import { loadCatalog } from '../../catalog/load-catalog.ts';
import { loadRoleDefaults } from '../../catalog/load-role-defaults.ts';
import { loadRole, loadStandings, type RoleStanding, readPrivileges } from '../../catalog/privileges.ts';
import type { RequestDatabase } from '../../database/database.ts';
import { ApiError, quote } from '../../errors/api-error.ts';
import { firstVersionWithKeys, isOlder } from '../../extension/extension-versions.ts';
import { hasValuesOf } from '../../freshness/fingerprint.ts';
import { type Dependence, needLoad, type SchemaChange, type SchemaStamp, tablesInDoubt } from '../../freshness/versions.ts';
import type { ModelSettings } from '../../model/additions.ts';
import { buildModel } from '../../model/build-model.ts';
import { checkDirectives } from '../../model/check-directives.ts';
import type { Model } from '../../model/model.ts';
import { isStorable } from '../../request/coerce/opaque-id.ts';
import type { Coercion } from '../../request/operation.ts';
import { buildSchema } from '../../schema/build-schema.ts';
import { identifier, render } from '../../sql/sql.ts';
import type { CacheStatistics } from '../../statistics.ts';
import type { KeyStore } from '../run/idempotency-key.ts';
import { type CacheSizes, IntrospectionCache, type SchemaCacheUses } from './caches.ts';
import { dependenceOf, suspectsOf } from './dependence.ts';
import { GrantedSchemas, type PrivilegeSet, type TypesAccess } from './granted-schemas.ts';
import { loadRequestSettings, type RequestSettings } from './request-settings.ts';
import type { GrantedSchema, NoteMismatches, Role, RoleSchema, SchemaTypes, SnapshotVersion } from './role-schema.ts';
import { nameOfAlike, type OwnNames, refusalOf } from './role-standing.ts';
import { TableSizeCache } from './table-size-cache.ts';

export interface SnapshotSettings {
  readonly schemas: readonly string[];
  /** Further schemas on the search path, which are not exposed. */
  readonly extraSearchPath: readonly string[];
  readonly introspection: 'directive' | 'on' | 'off';
  readonly model: ModelSettings;
  readonly caches: CacheSizes;
  /** Privileged roles that requests may run as nevertheless. */
  readonly trustedRoles: readonly string[];
  readonly limitsOf: (role: string) => Limits;
  readonly coercion: Coercion;
  readonly noteMismatches: NoteMismatches;
  readonly reportsCost: boolean;
  /** How idempotency keys are kept where the database can, and which roles may use them. */
  readonly keyStore: KeyStore;
  readonly mayUseKeys: (role: string) => boolean;
  /** The settings that tell SQL about a request (`request-settings.ts`), and the headers that it may read. */
  readonly requestSettings: readonly string[];
  readonly requestHeaders: readonly string[];
  /** The owners of prepared statements, for all snapshots of a graph. */
  readonly ownNames: OwnNames;
  /** Counts the lookups. */
  readonly uses: SchemaCacheUses;
}

/** The share of `schemaBytes` that roles themselves may take. */
const shareOfRoles = 1 / 8;
/** Approximate bytes of a role, besides its name and settings. */
const bytesOfRole = 500;

/** Encodings in which every Unicode character can be stored as UTF-8; SQL_ASCII stores bytes without knowing what they mean. */
const storesUnicode: ReadonlySet<string> = new Set(['UTF8', 'SQL_ASCII']);

/** What a snapshot is made from. */
interface LoadedSchema {
  readonly catalog: Catalog;
  readonly ignoredDirectives: readonly string[];
  readonly requestSettings: RequestSettings | null;
}

interface LoadedRole {
  readonly role: Role;
  readonly privileges: PrivilegeSet;
}

/** The version of a snapshot. Only the snapshot moves it. */
class MovingVersion implements SnapshotVersion {
  current: string;
  suspects: ReadonlySet<string> = new Set();
  /** Whether only a newer snapshot can be valid for the suspects. */
  needsLoad = false;

  constructor(version: string) {
    this.current = version;
  }
}

export class SchemaSnapshot {
  readonly #version: MovingVersion | null;
  #dependence: Dependence | null = null;
  readonly #keepsKeys: boolean;
  readonly #fingerprint: string;
  readonly #catalog: Catalog;
  readonly #settings: SnapshotSettings;
  readonly #requestSettings: RequestSettings | null;
  readonly #onDoubt: () => void;
  readonly #searchPath: string;
  readonly #roles: LRUCache<string, LoadedRole>;
  readonly #loading = new Map<string, Promise<LoadedRole>>();
  readonly #schemas: GrantedSchemas;
  readonly #introspectionCache: IntrospectionCache;
  readonly #tableSizes: TableSizeCache;
  /** The comment directives that are ignored, as text. */
  readonly ignoredDirectives: readonly string[];

  private constructor(
    { catalog, ignoredDirectives, requestSettings }: LoadedSchema,
    { version, extension, fingerprint }: SchemaStamp,
    settings: SnapshotSettings,
    onDoubt: () => void,
  ) {
    this.#catalog = catalog;
    this.#requestSettings = requestSettings;
    this.#onDoubt = onDoubt;
    this.ignoredDirectives = ignoredDirectives;
    this.#version = version === null ? null : new MovingVersion(version);
    this.#keepsKeys = extension !== null && !isOlder(extension, firstVersionWithKeys);
    this.#fingerprint = fingerprint;
    this.#settings = settings;
    this.#introspectionCache = new IntrospectionCache(settings.caches.introspectionBytes, settings.uses.introspection);
    const elsewhere = catalog.tables.flatMap(({ id, placement }) => (placement === null ? [] : [id]));
    this.#tableSizes = new TableSizeCache(settings.schemas, undefined, elsewhere);
    this.#searchPath = searchPathOf(catalog, settings);
    this.#schemas = new GrantedSchemas(settings.caches.schemaBytes, settings.uses.schema, {
      makeTypes: (privileges) => this.#makeTypes(privileges),
      makeCaches: (types) => this.#makeCaches(types),
    });
    this.#roles = new LRUCache({
      maxSize: Math.max(1, Math.floor(settings.caches.schemaBytes * shareOfRoles)),
      sizeCalculation: sizeOfRole,
      dispose: ({ privileges }) => this.#schemas.release(privileges),
    });
  }

  /** Reads the catalog. The stamp must be read before it. `onDoubt` is called if the privileges of a role may not match the catalog. */
  static async load(
    database: RequestDatabase,
    stamp: SchemaStamp,
    settings: SnapshotSettings,
    onDoubt = () => {},
  ): Promise<SchemaSnapshot> {
    const [catalog, requestSettings] = await Promise.all([
      loadCatalog(database, settings.schemas),
      loadRequestSettings(database, settings.requestSettings, settings.requestHeaders),
    ]);
    const problems = await runInSlices(checkDirectives(catalog));
    // An unknown member may belong to another tool.
    const ignored = problems.filter(({ fault }) => fault !== 'unknown member');
    const ignoredDirectives = ignored.map(({ object, name, message }) => `${object} ${name}: ${message}`);
    return new SchemaSnapshot({ catalog, ignoredDirectives, requestSettings }, stamp, settings, onDoubt);
  }

  /**
   * Moves on to a newer schema version if these changes, all that were made since, leave it valid, or do so for some requests: the others
   * then fail with `StaleSchemaError`. Returns how many tables those are for; null if it is not valid for any request.
   */
  adopt(version: string, changes: readonly SchemaChange[]): number | null {
    if (this.#version === null) return null;
    const tables = tablesInDoubt(changes, this.#dependsOn());
    if (tables === 'all') return null;
    const { suspects } = this.#version;
    if (tables.size > 0) this.#version.suspects = new Set([...suspects, ...suspectsOf(this.#catalog, this.#dependsOn(), tables)]);
    this.#version.needsLoad ||= needLoad(changes, this.#dependsOn());
    this.#version.current = version;
    return this.#version.suspects.size;
  }

  /**
   * Moves on to a newer schema version at which the fingerprint is still the same. Returns whether it could: some changes do not show in
   * the fingerprint.
   */
  adoptUnchanged(version: string, changes: readonly SchemaChange[]): boolean {
    if (this.#version === null || this.#version.needsLoad || needLoad(changes, this.#dependsOn())) return false;
    this.#version.suspects = new Set();
    this.#version.current = version;
    return true;
  }

  /** What a role sees, if it is loaded. */
  find(role: string): RoleSchema | undefined {
    const loaded = this.#roles.get(role);
    return loaded && this.#schemaOf(loaded);
  }

  /** What a role sees. Rejects with UNAUTHENTICATED for a role that does not exist. */
  async of(role: string, database: RequestDatabase): Promise<RoleSchema> {
    return this.find(role) ?? this.#schemaOf(await this.#load(role, database));
  }

  /** Loads what a role sees, before its first request. */
  async prepare(role: string, database: RequestDatabase): Promise<void> {
    const { granted } = await this.of(role, database);
    await granted.types();
  }

  /** Forgets the known roles for which something else holds than when they were loaded: their next request loads them anew. */
  async checkRoles(database: RequestDatabase): Promise<void> {
    const names = this.roles();
    if (names.length === 0) return;
    for (const standing of await loadStandings(database, names)) {
      const loaded = this.#roles.peek(standing.name);
      if (loaded === undefined) continue;
      const { refusal, ownName } = loaded.role;
      if (refusal !== this.#refusalOf(standing) || ownName !== this.#settings.ownNames.nameOf(standing)) this.#roles.delete(standing.name);
    }
  }

  /** The known roles, the last used first. */
  roles(): readonly string[] {
    return [...this.#roles.keys()];
  }

  /** The statistics of the caches of all roles. */
  readCaches(): readonly CacheStatistics[] {
    const { schema, document, variant, introspection } = this.#settings.uses;
    const documents = [...this.#schemas.values()].flatMap((granted) => [...granted.documents.values()]);
    const variants = documents.reduce((sum, { compiled }) => sum + compiled.size, 0);
    return [
      schema.read(this.#schemas.size),
      document.read(documents.length),
      variant.read(variants),
      introspection.read(this.#introspectionCache.size),
    ];
  }

  #dependsOn(): Dependence {
    this.#dependence ??= dependenceOf(this.#catalog, searchedSchemas(this.#catalog, this.#settings));
    return this.#dependence;
  }

  #schemaOf({ role, privileges }: LoadedRole): RoleSchema {
    return { role, granted: this.#schemas.of(privileges) };
  }

  /** Concurrent requests for a role share one load. A failure is not remembered: the next request tries again. */
  #load(name: string, database: RequestDatabase): Promise<LoadedRole> {
    const loading = this.#loading.get(name) ?? this.#loadAnew(name, database).finally(() => this.#loading.delete(name));
    this.#loading.set(name, loading);
    return loading;
  }

  async #loadAnew(name: string, database: RequestDatabase): Promise<LoadedRole> {
    // No role can have such a name, and PostgreSQL could not even be asked about it.
    if (!isStorable(name)) throw new ApiError('UNAUTHENTICATED', `role ${quote(name)} does not exist`);
    const { schemas, limitsOf, mayUseKeys } = this.#settings;
    const [role, defaults] = await Promise.all([loadRole(database, this.#catalog, name), loadRoleDefaults(database, name)]);
    // If the catalog has changed meanwhile, these privileges may not match it. They serve only this request: they may soon be revoked, and
    // the catalog may change back.
    const isPresent = await hasValuesOf(database, schemas, this.#fingerprint);
    const refusal = this.#refusalOf(role);
    const alikeName = nameOfAlike(role, defaults);
    const loaded = {
      role: {
        refusal,
        limits: limitsOf(name),
        mayUseKeys: mayUseKeys(name),
        defaults,
        alikeName,
        ownName: this.#settings.ownNames.nameOf(role),
      },
      privileges: this.#schemas.setOf(role.privileges),
    };
    if (!isPresent) {
      this.#onDoubt();
      return loaded;
    }
    this.#schemas.hold(loaded.privileges);
    this.#roles.set(name, loaded);
    return loaded;
  }

  #refusalOf(standing: RoleStanding): string | null {
    return refusalOf(standing, this.#settings.trustedRoles.includes(standing.name));
  }

  async #makeTypes(privileges: string): Promise<SchemaTypes> {
    const granted = readPrivileges(this.#catalog, { name: '', privileges });
    const { introspection } = this.#settings;
    const makeModel = () => buildModel(this.#catalog, granted, this.#settings.model);
    const model = await runInSlices(makeModel());
    const schema = await runInSlices(buildSchema(model));
    const isIntrospectable = introspection === 'on' || (introspection === 'directive' && model.introspection);
    return { model, schema, introspected: isIntrospectable ? () => buildIntrospectable(makeModel, introspection) : null };
  }

  #makeCaches(types: TypesAccess): GrantedSchema {
    const { documents, documentText } = this.#settings.caches;
    return {
      ...types,
      introspectionCache: this.#introspectionCache,
      version: this.#version,
      keyStore: this.#keepsKeys ? this.#settings.keyStore : null,
      searchPath: this.#searchPath,
      tableSizes: this.#tableSizes,
      escapesClaims: !storesUnicode.has(this.#catalog.encoding),
      hasNodes: this.#catalog.tables.some(({ placement }) => placement !== null),
      coercion: this.#settings.coercion,
      noteMismatches: this.#settings.noteMismatches,
      requestSettings: this.#requestSettings,
      reportsCost: this.#settings.reportsCost,
      uses: this.#settings.uses,
      documents: new LRUCache({ max: documents, maxSize: documentText, sizeCalculation: (_, text) => text.length + 1 }),
      cacheSizes: this.#settings.caches,
    };
  }
}

/**
 * The schemas of operators come last. Without them, PostgreSQL would silently compare values of an extension's type as a type that they can
 * be cast to, such as citext as text.
 */
function searchedSchemas({ operatorSchemas }: Catalog, { schemas, extraSearchPath }: SnapshotSettings): readonly string[] {
  return [...new Set([...schemas, ...extraSearchPath, ...operatorSchemas.map(({ name }) => name)])];
}

function searchPathOf(catalog: Catalog, settings: SnapshotSettings): string {
  const names = searchedSchemas(catalog, settings);
  return names.map((schema) => render(identifier(schema)).text).join(', ');
}

function sizeOfRole({ role }: LoadedRole, name: string): number {
  return role.defaults.settings.reduce((size, setting) => size + 2 * setting.join().length, bytesOfRole + 2 * name.length);
}

/** The part of a model that introspection shows: objects of schemas whose comment directive enables it, or all objects. */
function* buildIntrospectable(makeModel: () => Generator<void, Model>, setting: SnapshotSettings['introspection']): Generator<void, Model> {
  const model = yield* makeModel();
  const isIntrospectable = ({ introspection }: { readonly introspection: boolean }) => setting === 'on' || introspection;
  const parts = [model.tables, model.rowTypes, model.composites, model.routines, model.enums, model.domains];
  if (parts.every((part) => part.every(isIntrospectable))) return model;
  return {
    ...model,
    tables: model.tables.filter(isIntrospectable),
    rowTypes: model.rowTypes.filter(isIntrospectable),
    composites: model.composites.filter(isIntrospectable),
    lookups: model.lookups.filter(({ table }) => isIntrospectable(table)),
    routines: model.routines.filter(isIntrospectable),
    enums: model.enums.filter(isIntrospectable),
    domains: model.domains.filter(isIntrospectable),
  };
}
