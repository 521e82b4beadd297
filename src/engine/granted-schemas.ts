/**
 * The schemas of one snapshot: one for each set of privileges, however many roles have it, within a number of bytes. Of one that has to make room
 * its privileges stay, from which it is made again without the database.
 */
import type { CacheUse } from './cache-use.ts';
import type { GrantedSchema } from './role-schema.ts';

/** Privileges, and the schema that they give while that is kept. */
export class PrivilegeSet {
  /** As `loadRole` gives them. */
  readonly privileges: string;
  /** How many roles have it. */
  roles = 0;
  schema: GrantedSchema | null = null;
  making: Promise<GrantedSchema> | null = null;
  /** Of the schema. */
  bytes = 0;
  lastUse = 0;

  constructor(privileges: string) {
    this.privileges = privileges;
  }
}

/** Makes the schema of privileges, which has `noteGrowth` called when it takes more room. */
export type MakeSchema = (privileges: string, noteGrowth: () => void) => Promise<GrantedSchema>;

export class GrantedSchemas {
  readonly #maxBytes: number;
  readonly #use: CacheUse;
  readonly #make: MakeSchema;
  readonly #sets = new Map<string, PrivilegeSet>();
  /** Those whose schema is kept. */
  readonly #kept: PrivilegeSet[] = [];
  #bytes = 0;
  /** Counts uses, as a clock. */
  #uses = 0;
  #random = 1;

  constructor(maxBytes: number, use: CacheUse, make: MakeSchema) {
    this.#maxBytes = maxBytes;
    this.#use = use;
    this.#make = make;
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

  /** The schema of a set, at once where it is kept. */
  of(set: PrivilegeSet): GrantedSchema | Promise<GrantedSchema> {
    set.lastUse = ++this.#uses;
    return this.#use.note(set.schema ?? set.making ?? undefined) ?? this.#begin(set);
  }

  /** The schemas that are kept. */
  *values(): Generator<GrantedSchema, void> {
    for (const { schema } of this.#kept) if (schema) yield schema;
  }

  #begin(set: PrivilegeSet): Promise<GrantedSchema> {
    set.making = this.#make(set.privileges, () => this.#noteGrowth(set))
      .then((schema) => {
        this.#keep(set, schema);
        return schema;
      })
      .finally(() => {
        set.making = null;
        this.#forgetUnused(set);
      });
    return set.making;
  }

  #keep(set: PrivilegeSet, schema: GrantedSchema): void {
    set.bytes = schema.estimateBytes();
    while (this.#bytes + set.bytes > this.#maxBytes && this.#kept.length > 0) this.#evict(this.#choose());
    set.schema = schema;
    this.#kept.push(set);
    this.#bytes += set.bytes;
  }

  #noteGrowth(set: PrivilegeSet): void {
    if (!set.schema) return;
    const bytes = set.schema.estimateBytes();
    this.#bytes += bytes - set.bytes;
    set.bytes = bytes;
    while (this.#bytes > this.#maxBytes && this.#kept.length > 1) this.#evict(this.#choose());
  }

  /**
   * Of two that are chosen at random, by their bytes, the one that was used less recently. The least recent of all would be the very one that is
   * used next where roles take turns, so that one schema more than fit would have each made anew.
   */
  #choose(): PrivilegeSet {
    const [one, other] = [this.#draw(), this.#draw()];
    return one.lastUse < other.lastUse ? one : other;
  }

  #draw(): PrivilegeSet {
    // A linear congruential generator (Numerical Recipes): the same choices in each run.
    this.#random = (this.#random * 1_664_525 + 1_013_904_223) % 2 ** 32;
    let left = (this.#random / 2 ** 32) * this.#bytes;
    for (const set of this.#kept) {
      left -= set.bytes;
      if (left < 0) return set;
    }
    return this.#kept[0]!;
  }

  #evict(set: PrivilegeSet): void {
    this.#kept.splice(this.#kept.indexOf(set), 1);
    this.#bytes -= set.bytes;
    set.bytes = 0;
    set.schema = null;
    this.#forgetUnused(set);
  }

  #forgetUnused(set: PrivilegeSet): void {
    if (set.roles === 0 && set.schema === null && set.making === null) this.#sets.delete(set.privileges);
  }
}
