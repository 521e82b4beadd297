import type { TextCache } from '../../text-cache.ts';
import type { CacheUse } from './caches.ts';
import type { CachedDocument, GrantedSchema, SchemaTypes } from './role-schema.ts';

/**
 * The schemas of one snapshot, bounded in bytes: one per set of privileges, however many roles have it. Each is kept in two parts: its
 * types, which are large, and its documents with what was compiled from them, which are small and all that most requests need. When a part
 * is evicted its privileges stay, and it is built again from them without the database.
 */

/** What is kept of a set of privileges; null with 0 bytes if it was evicted. */
class Part<Content> {
  readonly set: PrivilegeSet;
  content: Content | null = null;
  bytes = 0;
  lastUse = 0;

  constructor(set: PrivilegeSet) {
    this.set = set;
  }
}

/** A set of privileges, and what is kept of its schema. */
export class PrivilegeSet {
  /** As `loadRole` returns them. */
  readonly privileges: string;
  /** How many roles have it. */
  roles = 0;
  readonly caches = new Part<GrantedSchema>(this);
  readonly types = new Part<SchemaTypes>(this);
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
  readonly #maxBytes: number;
  readonly #use: CacheUse;
  readonly #maker: SchemaMaker;
  readonly #sets = new Map<string, PrivilegeSet>();
  /** The parts whose content is kept. */
  readonly #parts = new Set<Part<unknown>>();
  #bytes = 0;
  /** Counts uses, as a clock. */
  #uses = 0;
  #random = 1;

  /** `use` counts the lookups of types. */
  constructor(maxBytes: number, use: CacheUse, maker: SchemaMaker) {
    this.#maxBytes = maxBytes;
    this.#use = use;
    this.#maker = maker;
  }

  /** The number of schemas whose types are kept. */
  get size(): number {
    let size = 0;
    for (const part of this.#parts) if (part === part.set.types) size += 1;
    return size;
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
    set.caches.lastUse = ++this.#uses;
    return set.caches.content ?? this.#makeCaches(set);
  }

  /** The schemas whose documents are kept. */
  *values(): Generator<GrantedSchema, void> {
    for (const { set } of [...this.#parts].filter((part) => part === part.set.caches)) yield set.caches.content!;
  }

  #makeCaches(set: PrivilegeSet): GrantedSchema {
    const made = this.#maker.makeCaches({
      types: () => this.#typesOf(set),
      keeps: (types) => set.types.content === types,
      noteGrowth: () => this.#noteGrowth(set, made),
    });
    this.#keep(set.caches, made, estimateDocuments(made.documents));
    return made;
  }

  #typesOf(set: PrivilegeSet): SchemaTypes | Promise<SchemaTypes> {
    set.types.lastUse = ++this.#uses;
    this.#measureTypes(set.types);
    return this.#use.note(set.types.content ?? set.making ?? undefined) ?? this.#makeTypes(set);
  }

  #makeTypes(set: PrivilegeSet): Promise<SchemaTypes> {
    set.making = this.#maker
      .makeTypes(set.privileges)
      .then((types) => {
        this.#keep(set.types, types, estimateTypes(types));
        return types;
      })
      .finally(() => {
        set.making = null;
        this.#forgetUnused(set);
      });
    return set.making;
  }

  #keep<Content>(part: Part<Content>, content: Content, bytes: number): void {
    part.content = content;
    part.bytes = bytes;
    this.#bytes += bytes;
    this.#parts.add(part);
    // The part that a request has just asked for stays, whatever its size.
    while (this.#bytes > this.#maxBytes) {
      const chosen = this.#choose(part.set);
      if (chosen === null) return;
      this.#evict(chosen);
    }
  }

  /** A schema that grew may itself be evicted; the request that made it grow continues with it. */
  #noteGrowth({ caches, types }: PrivilegeSet, grown: GrantedSchema): void {
    if (caches.content !== grown) return;
    this.#measureCaches(caches);
    this.#measureTypes(types);
    while (this.#bytes > this.#maxBytes && this.#parts.size > 1) this.#evict(this.#choose(null)!);
  }

  #measureCaches(part: Part<GrantedSchema>): void {
    if (part.content !== null) this.#note(part, estimateDocuments(part.content.documents));
  }

  /** Types grow as they are used. */
  #measureTypes(part: Part<SchemaTypes>): void {
    if (part.content !== null) this.#note(part, estimateTypes(part.content));
  }

  #note(part: Part<unknown>, bytes: number): void {
    this.#bytes += bytes - part.bytes;
    part.bytes = bytes;
  }

  /**
   * Draws two parts at random, weighted by their bytes, and returns the one that was used less recently. Never one of the set `except`;
   * null if there is no other. Strict LRU would fail when roles take turns: with one schema more than fits, it would always evict the one
   * that is needed next.
   */
  #choose(except: PrivilegeSet | null): Part<unknown> | null {
    const bytes = this.#bytes - (except === null ? 0 : except.types.bytes + except.caches.bytes);
    if (bytes === 0) return null;
    const [one, other] = [this.#draw(bytes, except), this.#draw(bytes, except)];
    return one.lastUse < other.lastUse ? one : other;
  }

  #draw(bytes: number, except: PrivilegeSet | null): Part<unknown> {
    // A linear congruential generator (Numerical Recipes): makes the same choices in each run.
    this.#random = (this.#random * 1_664_525 + 1_013_904_223) % 2 ** 32;
    let left = (this.#random / 2 ** 32) * bytes;
    let last: Part<unknown> | undefined;
    for (const part of this.#parts) {
      if (part.set === except) continue;
      last = part;
      left -= part.bytes;
      if (left < 0) break;
    }
    return last!;
  }

  #evict(part: Part<unknown>): void {
    const { set } = part;
    this.#parts.delete(part);
    this.#bytes -= part.bytes;
    part.bytes = 0;
    part.content = null;
    const caches = set.caches.content;
    if (part === set.types && caches) {
      caches.documents.remove(({ types }) => types !== null);
      this.#measureCaches(set.caches);
    }
    this.#forgetUnused(set);
  }

  #forgetUnused(set: PrivilegeSet): void {
    const { roles, caches, types, making } = set;
    if (roles === 0 && !caches.content && !types.content && making === null) this.#sets.delete(set.privileges);
  }
}

/**
 * Estimates the memory of a granted schema and its documents. Measured with Node 24 over tables of 12 columns: 290 bytes for a table that
 * nobody has used, 4.2 KB for one that is filled in, 3.7 KB for a GraphQL type with its fields. The constants are half as large again,
 * because evicted schemas remain in memory until V8 collects them. `npm run bench:large` measures the result.
 */

/** For a table or function, for a table that is filled in, and for a GraphQL type. */
const bytesOfTable = 450;
const bytesOfBuiltTable = 6000;
const bytesOfType = 5500;
/** For the caches of a granted schema while they are empty. */
const bytesOfCaches = 5000;
/** For a character of a document, once it is parsed. */
const bytesOfCharacter = 40;

/** Bytes of a model and its GraphQL types, as far as they have been built. */
export function estimateTypes({ model, schema }: SchemaTypes): number {
  const ofModel = bytesOfTable * (model.tables.length + model.routines.length) + bytesOfBuiltTable * model.countBuilt();
  return ofModel + bytesOfType * schema.countBuilt();
}

/** Bytes of documents and what was compiled from them. */
export function estimateDocuments(documents: Pick<TextCache<CachedDocument>, 'characters' | 'values'>): number {
  let bytes = bytesOfCaches + bytesOfCharacter * documents.characters;
  for (const { compiled } of documents.values()) bytes += compiled.calculatedSize;
  return bytes;
}
