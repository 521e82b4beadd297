/** What one role sees of a snapshot of the schema, with the caches of its requests. Types only: `schema-snapshot.ts` makes it. */
import type { LRUCache } from 'lru-cache';
import type { Limits } from '../../budget/limits.ts';
import type { CompiledOperation } from '../../compile/compile-plan.ts';
import type { SchemaVersion } from '../../compile/statement.ts';
import type { RoleDefaults } from '../../database/database.ts';
import type { Model } from '../../model/model.ts';
import type { PlanMeasure } from '../../plan/measure.ts';
import type { Coercion } from '../../request/operation.ts';
import type { Document } from '../../request/validate/parse-document.ts';
import type { LazySchema } from '../../schema/lazy/lazy-schema.ts';
import type { KeyStore } from '../run/idempotency-key.ts';
import type { CacheSizes, IntrospectionCache, SchemaCacheUses } from './caches.ts';
import type { RequestSettings } from './request-settings.ts';
import type { TableSizeCache } from './table-size-cache.ts';

/** What requests of a role run against. */
export interface RoleSchema {
  readonly role: Role;
  readonly granted: GrantedSchema;
}

/** What belongs to a single role, even if others have the same privileges. */
export interface Role {
  /** Why no request may run as the role; null if requests may. */
  readonly refusal: string | null;
  /** The limits on the cost of the role's requests. */
  readonly limits: Limits;
  /** Whether its mutations may have idempotency keys. */
  readonly mayUseKeys: boolean;
  readonly defaults: RoleDefaults;
  /**
   * A name shared by all roles with the same privileges and settings: the owner of the prepared statements that PostgreSQL parses and plans
   * in the same way for all of them.
   */
  readonly alikeName: string;
  /**
   * The owner of its other prepared statements. PostgreSQL keeps the plan of a statement, with the policies that held for the role, when
   * memberships change (and `bypassrls`). So it is another name after each such change, even if it has been undone: a statement may have been
   * planned in between.
   */
  readonly ownName: string;
}

/** What documents are validated and planned with: the largest part of a granted schema. */
export interface SchemaTypes {
  readonly model: Model;
  readonly schema: LazySchema;
  /** Builds the part of the model that introspection shows, to be read once and dropped; null if introspection is disabled. */
  readonly introspected: (() => Generator<void, Model>) | null;
}

/** The schema version for which a snapshot holds, except for the tables that have changed since. */
export interface SnapshotVersion extends SchemaVersion {
  /** The tables, as in `PlanMeasure.touches`. Requests for them need a newer snapshot. */
  readonly suspects: ReadonlySet<string>;
}

/** What all roles with the same privileges see, and the caches of their requests. */
export interface GrantedSchema {
  /** Builds the types again if they are not kept. A request that finds everything in the caches does not need them. */
  readonly types: () => Promise<SchemaTypes>;
  /**
   * Whether these types are the ones that are kept. Nothing that refers to other types may be cached, because it would hold them in memory
   * without bound.
   */
  readonly keeps: (types: SchemaTypes) => boolean;
  /** Introspection responses of all roles. */
  readonly introspectionCache: IntrospectionCache;
  /** The schema version for which the model holds; null if the database does not track versions. */
  readonly version: SnapshotVersion | null;
  /** Null if the database keeps no idempotency keys. */
  readonly keyStore: KeyStore | null;
  readonly searchPath: string;
  readonly tableSizes: TableSizeCache;
  /** Whether claims are written in ASCII only, because the encoding of the database may lack some of their characters. */
  readonly escapesClaims: boolean;
  /** Whether tables have shards on other nodes (Citus). */
  readonly hasNodes: boolean;
  readonly coercion: Coercion;
  /** Must be called with each document that only lenient coercion accepts. */
  readonly noteMismatches: NoteMismatches;
  /** The settings that tell SQL about the request besides the claims; null if nothing reads any. */
  readonly requestSettings: RequestSettings | null;
  /** Whether responses report the cost of the request. */
  readonly reportsCost: boolean;
  /** By text. */
  readonly documents: LRUCache<string, CachedDocument>;
  readonly cacheSizes: CacheSizes;
  /** Counts the lookups of all roles. */
  readonly uses: SchemaCacheUses;
  /** Must be called when `documents` has grown. */
  readonly noteGrowth: () => void;
}

/**
 * A valid document with what was compiled for its operations, by variant. Whoever uses it checks its counts against the limits of the role.
 */
export interface CachedDocument {
  readonly document: Document;
  readonly compiled: LRUCache<string, CompiledRequest>;
  /** The types that it refers to, and with which it must be evicted; null if it refers to none. */
  readonly types: SchemaTypes | null;
}

/** An operation that is ready to run, with what is needed before it runs. */
export interface CompiledRequest extends CompiledOperation {
  /** Unique among all operations that this process has compiled. */
  readonly id: number;
  /** Its size in the cache, in characters. */
  readonly size: number;
  readonly measure: PlanMeasure;
  /** The number of values in its arguments (`request/count-values.ts`). */
  readonly inputValues: number;
  /** How many rows it may read by its page sizes; null if that depends on variables. */
  readonly pageRows: number | null;
  /** Whether a root field introspects the schema. */
  readonly isIntrospective: boolean;
  /** Whether PostgreSQL runs it with a generic plan. */
  readonly genericPlan: boolean;
  /** Whether it refers to the types that it was planned with. */
  readonly holdsTypes: boolean;
}

/** Takes a document that only lenient coercion accepts, with its text. */
export type NoteMismatches = (query: string, document: Document) => void;
