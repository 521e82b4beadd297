/**
 * Which names of types and root fields are taken: those of every schema, and those that tables, enums and functions claim, first come
 * first served, so that no two types or root fields ever have one name. Who comes second gets another name: the name of its schema in
 * front, and a number behind where that is taken too. A table's type names are its stem with suffixes: they are compared by their
 * parts, as writing out a dozen for each of thousands of tables costs more than all the rest of the model.
 */

import type { AdditionName } from './additions.ts';
import {
  type AdditionSuffix,
  additionSuffixes,
  commonTypeNames,
  fieldsNamed,
  filterTypeName,
  nodeFieldName,
  type TableAbilities,
  type TypeSuffix,
  typeSuffixes,
} from './graphql-names.ts';
import { lowerFirst, withSchema } from './names.ts';

/** Something that claims a name. */
export interface Claimant {
  /** The name that it gets unless something else has it. */
  readonly name: string;
  /** The schema that it is in. */
  readonly schema: string;
  readonly inflection: boolean;
}

/** The names of a table: of its row type, of what the names of its other types and its root fields begin with, and of types that differ. */
export interface TableNames {
  readonly typeName: string;
  readonly stem: string;
  readonly renamedTypes: ReadonlyMap<TypeSuffix, string>;
}

type TableSuffix = keyof typeof typeSuffixes;

const suffixes = Object.entries(typeSuffixes) as [TableSuffix, (able: TableAbilities) => boolean][];
const suffixesOfAdditions = Object.keys(additionSuffixes) as AdditionSuffix[];
/** For each suffix of additions that others end with: what they have ahead of it. */
const longerSuffixes: ReadonlyMap<AdditionSuffix, readonly string[]> = new Map(
  suffixesOfAdditions.map((suffix) => [
    suffix,
    [...suffixesOfAdditions, ...Object.keys(typeSuffixes)]
      .filter((longer) => longer !== suffix && longer.endsWith(suffix))
      .map((longer) => longer.slice(0, -suffix.length)),
  ]),
);
const noneRenamed: TableNames['renamedTypes'] = new Map();

export class TakenNames {
  /** Names of types that stand for themselves: common ones, rows, enums. */
  readonly #types = new Set<string>();
  /** What the names of the other types of tables begin with. */
  readonly #stems = new Map<string, TableAbilities>();
  /** What is before a suffix in the names of `#types`, with the suffixes. */
  readonly #beforeSuffix = new Map<string, TableSuffix[]>();
  /** The same for the suffixes of additions. */
  readonly #beforeAddition = new Map<string, AdditionSuffix[]>();
  /** What the fields of Query begin with that belong to tables. */
  readonly #collections = new Set<string>();
  readonly #routines = { query: new Set<string>([nodeFieldName]), mutation: new Set<string>() };

  constructor() {
    for (const name of commonTypeNames) this.#takeType(name);
  }

  /** Takes the types and root fields of a table. Only what is taken gets another name; where another table has the stem, that is all. */
  claimTable(claimant: Claimant, able: TableAbilities): TableNames {
    const { name } = claimant;
    const stem = this.#isStemFree(name) ? name : this.#firstFree(claimant, (other) => this.#isWhollyFree(other, able));
    const typeName = this.#isTypeFree(stem) ? stem : this.#firstFree(claimant, (other) => this.#isTypeFree(other));
    const clashing = (this.#beforeSuffix.get(stem) ?? []).filter((suffix) => typeSuffixes[suffix](able));
    this.#stems.set(stem, able);
    this.#collections.add(lowerFirst(stem));
    this.#takeType(typeName);
    if (clashing.length === 0) return { typeName, stem, renamedTypes: noneRenamed };
    const renamedTypes = new Map<TypeSuffix, string>();
    for (const suffix of clashing) {
      const other = this.#firstFree(claimant, (candidate) => this.#isTypeFree(candidate + suffix)) + suffix;
      this.#takeType(other);
      renamedTypes.set(suffix, other);
    }
    return { typeName, stem, renamedTypes };
  }

  /** Takes the types of a table's additions, and returns those whose plain names are taken, with the names that they get. All others must already be there. */
  claimAdditions(claimant: Claimant, has: (addition: AdditionName) => boolean): ReadonlyMap<AdditionSuffix, string> {
    const taken = new Set(this.#beforeAddition.get(claimant.name));
    const clashing = suffixesOfAdditions.filter(
      (suffix) => has(additionSuffixes[suffix]) && (taken.has(suffix) || this.#isOfAnother(claimant.name, suffix)),
    );
    const renamed = new Map<AdditionSuffix, string>();
    for (const suffix of clashing) {
      const other = this.#firstFree(claimant, (candidate) => !this.#stems.has(candidate) && this.#isTypeFree(candidate + suffix)) + suffix;
      this.#takeType(other);
      renamed.set(suffix, other);
    }
    return renamed;
  }

  /** Whether a name of one table's type may be that of another's: `AuthorGroup` and `Key`, `Author` and `GroupKey`. */
  #isOfAnother(stem: string, suffix: AdditionSuffix): boolean {
    return (longerSuffixes.get(suffix) ?? []).some((middle) => stem.endsWith(middle) && this.#stems.has(stem.slice(0, -middle.length)));
  }

  /** Claims the type of rows that have no other types, and returns its name. */
  claimRows(claimant: Claimant): string {
    const isFree = (name: string) => this.#isTypeFree(name);
    const name = isFree(claimant.name) ? claimant.name : this.#firstFree(claimant, isFree);
    this.#takeType(name);
    return name;
  }

  /** Claims the type of an enum and its filter, and returns the name of the type. */
  claimEnum(claimant: Claimant): string {
    const isFree = (name: string) => this.#isTypeFree(name) && this.#isTypeFree(filterTypeName(name));
    const name = isFree(claimant.name) ? claimant.name : this.#firstFree(claimant, isFree);
    this.#takeType(name);
    this.#takeType(filterTypeName(name));
    return name;
  }

  /** Claims a field of Query or Mutation, and returns its name. All tables must already be there. */
  claimRootField(claimant: Claimant, root: 'query' | 'mutation'): string {
    const routines = this.#routines[root];
    const stems = root === 'query' ? this.#collections : this.#stems;
    const isFree = (name: string) => !routines.has(name) && !fieldsNamed(name, root).some(({ stem }) => stems.has(stem));
    const { name } = claimant;
    const free = isFree(name) ? name : lowerFirst(this.#firstFree(claimant, (other) => isFree(lowerFirst(other))));
    routines.add(free);
    return free;
  }

  #firstFree({ name, schema, inflection }: Claimant, isFree: (name: string) => boolean): string {
    const qualified = withSchema(name, schema, inflection);
    for (let number = 1; ; number += 1) {
      const candidate = number === 1 ? qualified : `${qualified}${number}`;
      if (isFree(candidate)) return candidate;
    }
  }

  #takeType(name: string): void {
    this.#types.add(name);
    for (const [suffix] of suffixes) {
      if (!name.endsWith(suffix)) continue;
      const stem = name.slice(0, -suffix.length);
      this.#beforeSuffix.set(stem, [...(this.#beforeSuffix.get(stem) ?? []), suffix]);
    }
    for (const suffix of suffixesOfAdditions) {
      if (!name.endsWith(suffix)) continue;
      const stem = name.slice(0, -suffix.length);
      this.#beforeAddition.set(stem, [...(this.#beforeAddition.get(stem) ?? []), suffix]);
    }
  }

  #isTypeFree(name: string): boolean {
    if (this.#types.has(name)) return false;
    return !suffixes.some(([suffix, has]) => {
      const owner = name.endsWith(suffix) ? this.#stems.get(name.slice(0, -suffix.length)) : undefined;
      return owner !== undefined && has(owner);
    });
  }

  #isStemFree(stem: string): boolean {
    return !this.#stems.has(stem) && !this.#collections.has(lowerFirst(stem));
  }

  #isWhollyFree(stem: string, able: TableAbilities): boolean {
    if (!this.#isStemFree(stem) || !this.#isTypeFree(stem)) return false;
    return !this.#beforeSuffix.get(stem)?.some((suffix) => typeSuffixes[suffix](able));
  }
}
