/** What one role sees of a snapshot of the schema, with the caches of its requests. Types only: `schema-snapshot.ts` makes it. */
import type { LRUCache } from 'lru-cache';
import type { Limits } from '../budget/limits.ts';
import type { CompiledOperation } from '../compile/compile-plan.ts';
import type { RoleDefaults } from '../database/database.ts';
import type { Model } from '../model/model.ts';
import type { PlanMeasure } from '../plan/measure-plan.ts';
import type { Document } from '../request/parse-document.ts';
import type { LazySchema } from '../schema/lazy-schema.ts';
import type { TextCache } from '../text-cache.ts';
import type { SchemaCacheUses } from './cache-use.ts';
import type { IntrospectionCache } from './introspection-cache.ts';

/** What requests of a role run against. */
export interface RoleSchema {
  readonly role: Role;
  readonly granted: GrantedSchema;
}

/** What belongs to one role, even if others have the same privileges. */
export interface Role {
  /** Why no request may run as the role; null if requests may. */
  readonly refusal: string | null;
  /** What a request of the role may cost. */
  readonly limits: Limits;
  readonly defaults: RoleDefaults;
  /** Of all roles that have its privileges and settings: whose prepared statements it uses where PostgreSQL parses and plans them in the same way for all. */
  readonly alikeName: string;
}

/** What documents are validated and planned with: most of what a granted schema takes. */
export interface SchemaTypes {
  readonly model: Model;
  readonly schema: LazySchema;
  /** Builds the part of the model that introspection shows, to be read once and dropped; null if it is disabled. */
  readonly introspected: (() => Generator<void, Model>) | null;
}

/** What all roles with the same privileges see, and the caches of their requests. */
export interface GrantedSchema {
  /** At once where they are kept; else they are built again. A request that finds all in the caches needs none. */
  readonly types: () => SchemaTypes | Promise<SchemaTypes>;
  /** Whether these are the types that are kept. What refers to others must not be cached: it would keep them beyond all bounds. */
  readonly keeps: (types: SchemaTypes) => boolean;
  /** Introspection responses of all roles. */
  readonly introspectionCache: IntrospectionCache;
  /** The schema version that the model was read at; null if the database keeps none. */
  readonly version: string | null;
  /** For how many milliseconds idempotency keys are kept; null if the database keeps none. */
  readonly keyLifetime: number | null;
  readonly searchPath: string;
  /** Whether claims are written in ASCII alone, because the encoding of the database may lack their characters. */
  readonly escapesClaims: boolean;
  /** Whether responses report the cost of the request. */
  readonly reportsCost: boolean;
  readonly documents: TextCache<CachedDocument>;
  /** Where the lookups of all roles are counted. */
  readonly uses: SchemaCacheUses;
  /** Must be called when `documents` has grown. */
  readonly noteGrowth: () => void;
}

/** A valid document with what was compiled for its operations, by variant. */
export interface CachedDocument {
  readonly document: Document;
  readonly compiled: LRUCache<string, CompiledRequest>;
  /** The types that it, or what was compiled of it, refers to, and goes with; null if it refers to none. */
  types: SchemaTypes | null;
  /** The limits that it was last checked against: another role may have others. */
  limits: Limits;
}

/** An operation that is ready to run, with what must be known in advance. */
export interface CompiledRequest extends CompiledOperation {
  /** Identifies it among all that this process has compiled. */
  readonly id: number;
  /** Characters that it counts for in the cache. */
  readonly size: number;
  readonly measure: PlanMeasure;
  /** Whether the estimated rows depend on variables. */
  readonly rowsVary: boolean;
  /** Whether a root field introspects the schema. */
  readonly isIntrospective: boolean;
  /** The limits that it was last checked against. */
  limits: Limits;
}
