/**
 * The schemas of one snapshot, bounded in bytes: one per set of privileges, however many roles have it. Each is kept in two parts: its
 * types, which are large, and its documents with what was compiled from them, which are small and all that most requests need. When a part
 * is evicted its privileges stay, and it is built again from them without the database.
 */
import { LRUCache } from 'lru-cache';
import type { CacheUse } from './caches.ts';
import type { GrantedSchema, SchemaTypes } from './role-schema.ts';

/**
 * Estimates of memory, measured with Node 24 over tables of 12 columns: 290 bytes for a table that nobody has used, 4.2 KB for one that is
 * filled in, 3.7 KB for a GraphQL type with its fields. The constants are half as large again, because evicted schemas remain in memory
 * until V8 collects them. `npm run bench:large` measures the result.
 */
const bytesOfTable = 450;
const bytesOfBuiltTable = 6000;
const bytesOfType = 5500;
/** For the caches of a granted schema while they are empty. */
const bytesOfCaches = 5000;
/** For a character of a document, once it is parsed. */
const bytesOfCharacter = 40;
/** The part of all bytes that types may take. */
const shareOfTypes = 3 / 4;

/** A set of privileges. */
export class PrivilegeSet {
  /** As `loadRole` returns them. */
  readonly privileges: string;
  /** How many roles have it. */
  roles = 0;
  making: Promise<SchemaTypes> | null = null;

  constructor(privileges: string) {
    this.privileges = privileges;
  }
}

/** Access to the types of a granted schema. */
export type TypesAccess = Pick<GrantedSchema, 'types' | 'keeps' | 'noteGrowth'>;

/** Builds the parts of schemas. */
export interface SchemaMaker {
  makeTypes(privileges: string): Promise<SchemaTypes>;
  /** With empty caches. */
  makeCaches(types: TypesAccess): GrantedSchema;
}

export class GrantedSchemas {
  readonly #use: CacheUse;
  readonly #maker: SchemaMaker;
  readonly #sets = new Map<string, PrivilegeSet>();
  readonly #types: LRUCache<PrivilegeSet, SchemaTypes>;
  readonly #caches: LRUCache<PrivilegeSet, GrantedSchema>;

  /** `use` counts the lookups of types. */
  constructor(maxBytes: number, use: CacheUse, maker: SchemaMaker) {
    this.#use = use;
    this.#maker = maker;
    this.#types = keepUpTo(maxBytes * shareOfTypes, estimateTypes, (set) => this.#forgetTypes(set));
    this.#caches = keepUpTo(maxBytes * (1 - shareOfTypes), estimateDocuments, (set) => this.#forgetUnused(set));
  }

  /** The number of schemas whose types are kept. */
  get size(): number {
    return this.#types.size;
  }

  /** The set with these privileges. */
  setOf(privileges: string): PrivilegeSet {
    const set = this.#sets.get(privileges) ?? new PrivilegeSet(privileges);
    this.#sets.set(privileges, set);
    return set;
  }

  /** Counts a role that has the set. */
  hold(set: PrivilegeSet): void {
    set.roles += 1;
  }

  /** Stops counting a role that has the set. */
  release(set: PrivilegeSet): void {
    set.roles -= 1;
    this.#forgetUnused(set);
  }

  /** The schema of a set. */
  of(set: PrivilegeSet): GrantedSchema {
    return this.#caches.get(set) ?? this.#makeCaches(set);
  }

  /** The schemas whose documents are kept. */
  values(): Iterable<GrantedSchema> {
    return this.#caches.values();
  }

  #makeCaches(set: PrivilegeSet): GrantedSchema {
    const granted = this.#maker.makeCaches({
      types: () => this.#typesOf(set),
      keeps: (types) => this.#types.peek(set) === types,
      noteGrowth: () => this.#noteGrowth(set, granted),
    });
    keep(this.#caches, set, granted);
    return granted;
  }

  /** The request that made the schema grow continues with it, even if it has been evicted. */
  #noteGrowth(set: PrivilegeSet, grown: GrantedSchema): void {
    if (this.#caches.peek(set) === grown) keep(this.#caches, set, grown);
    const types = this.#types.peek(set);
    if (types !== undefined) keep(this.#types, set, types);
  }

  #typesOf(set: PrivilegeSet): Promise<SchemaTypes> {
    const types = this.#types.get(set);
    this.#use.note(types ?? set.making ?? undefined);
    if (types === undefined) return set.making ?? this.#makeTypes(set);
    // Types grow as they are used.
    keep(this.#types, set, types);
    return Promise.resolve(types);
  }

  #makeTypes(set: PrivilegeSet): Promise<SchemaTypes> {
    set.making = this.#maker
      .makeTypes(set.privileges)
      .then((types) => {
        keep(this.#types, set, types);
        return types;
      })
      .finally(() => {
        set.making = null;
        this.#forgetUnused(set);
      });
    return set.making;
  }

  /** Types are evicted together with what refers to them. */
  #forgetTypes(set: PrivilegeSet): void {
    const caches = this.#caches.peek(set);
    if (caches !== undefined) {
      for (const [text, { types, compiled }] of [...caches.documents.entries()]) {
        if (types !== null || [...compiled.values()].some(({ holdsTypes }) => holdsTypes)) caches.documents.delete(text);
      }
    }
    this.#forgetUnused(set);
  }

  #forgetUnused(set: PrivilegeSet): void {
    const isUsed = set.roles > 0 || set.making !== null || this.#types.peek(set) !== undefined || this.#caches.peek(set) !== undefined;
    if (!isUsed) this.#sets.delete(set.privileges);
  }
}

/** A cache of what sets of privileges have, up to a number of bytes. It keeps the latest whatever its size. */
function keepUpTo<Content extends object>(
  maxBytes: number,
  estimate: (content: Content) => number,
  onEvict: (set: PrivilegeSet) => void,
): LRUCache<PrivilegeSet, Content> {
  const maxSize = Math.max(1, Math.floor(maxBytes));
  return new LRUCache({
    maxSize,
    sizeCalculation: (content) => Math.max(1, Math.min(maxSize, estimate(content))),
    disposeAfter: (_, set, reason) => {
      if (reason === 'evict') onEvict(set);
    },
  });
}

/** Measures the content, which may have grown since it was set: `set` alone does not measure what it has already. */
function keep<Content extends object>(cache: LRUCache<PrivilegeSet, Content>, set: PrivilegeSet, content: Content): void {
  cache.delete(set);
  cache.set(set, content);
}

/** Bytes of a model and its GraphQL types, as far as they have been built. */
export function estimateTypes({ model, schema }: SchemaTypes): number {
  const ofModel = bytesOfTable * (model.tables.length + model.routines.length) + bytesOfBuiltTable * model.countBuilt();
  return ofModel + bytesOfType * schema.countBuilt();
}

/** Bytes of documents and what was compiled from them. */
function estimateDocuments({ documents }: GrantedSchema): number {
  let bytes = bytesOfCaches + bytesOfCharacter * documents.calculatedSize;
  for (const { compiled } of documents.values()) bytes += compiled.calculatedSize;
  return bytes;
}
