/**
 * The schemas of one snapshot: one for each set of privileges, however many roles have it, within a number of bytes. Each is kept in two parts: its types,
 * which are large, and its documents with what was compiled of them, which are small, and all that most requests need. Of what has to make room the
 * privileges stay, from which it is made again without the database.
 */
import type { CacheUse } from './cache-use.ts';
import { estimateDocuments, estimateTypes } from './estimate-bytes.ts';
import type { GrantedSchema, SchemaTypes } from './role-schema.ts';

/** What is kept of a set of privileges, or null; the bytes are then 0. */
class Part<Content> {
  readonly set: PrivilegeSet;
  content: Content | null = null;
  bytes = 0;
  lastUse = 0;

  constructor(set: PrivilegeSet) {
    this.set = set;
  }
}

/** Privileges, and what is kept of the schema that they give. */
export class PrivilegeSet {
  /** As `loadRole` gives them. */
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

/** The part of a granted schema that leads to its types. */
export type TypesAccess = Pick<GrantedSchema, 'types' | 'keeps' | 'noteGrowth'>;

/** Makes the parts of schemas. */
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
  /** Those that have content. */
  readonly #parts = new Set<Part<unknown>>();
  #bytes = 0;
  /** Counts uses, as a clock. */
  #uses = 0;
  #random = 1;

  /** Lookups of types are counted in `use`. */
  constructor(maxBytes: number, use: CacheUse, maker: SchemaMaker) {
    this.#maxBytes = maxBytes;
    this.#use = use;
    this.#maker = maker;
  }

  /** Of how many schemas the types are kept. */
  get size(): number {
    let size = 0;
    for (const part of this.#parts) if (part === part.set.types) size += 1;
    return size;
  }

  /** The set of these privileges. */
  setOf(privileges: string): PrivilegeSet {
    const set = this.#sets.get(privileges) ?? new PrivilegeSet(privileges);
    this.#sets.set(privileges, set);
    return set;
  }

  /** A role that has the set is remembered. */
  hold(set: PrivilegeSet): void {
    set.roles += 1;
  }

  /** A role that has the set is forgotten. */
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
    // What a request has just asked for stays, whatever it takes.
    while (this.#bytes > this.#maxBytes) {
      const chosen = this.#choose(part.set);
      if (chosen === null) return;
      this.#evict(chosen);
    }
  }

  /** What grows may have to go itself: its request goes on with what it has. */
  #noteGrowth({ caches, types }: PrivilegeSet, grown: GrantedSchema): void {
    if (caches.content !== grown) return;
    this.#measureCaches(caches);
    this.#measureTypes(types);
    while (this.#bytes > this.#maxBytes && this.#parts.size > 1) this.#evict(this.#choose(null)!);
  }

  #measureCaches(part: Part<GrantedSchema>): void {
    if (part.content !== null) this.#note(part, estimateDocuments(part.content.documents));
  }

  /** What is asked of types makes them grow. */
  #measureTypes(part: Part<SchemaTypes>): void {
    if (part.content !== null) this.#note(part, estimateTypes(part.content));
  }

  #note(part: Part<unknown>, bytes: number): void {
    this.#bytes += bytes - part.bytes;
    part.bytes = bytes;
  }

  /**
   * Of two that are chosen at random, by their bytes, the one that was used less recently; none of the set `except`, and null where there is no other. The least
   * recent of all would be the very one that is used next where roles take turns, so that one schema more than fit would have each made anew.
   */
  #choose(except: PrivilegeSet | null): Part<unknown> | null {
    const bytes = this.#bytes - (except === null ? 0 : except.types.bytes + except.caches.bytes);
    if (bytes === 0) return null;
    const [one, other] = [this.#draw(bytes, except), this.#draw(bytes, except)];
    return one.lastUse < other.lastUse ? one : other;
  }

  #draw(bytes: number, except: PrivilegeSet | null): Part<unknown> {
    // A linear congruential generator (Numerical Recipes): the same choices in each run.
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
