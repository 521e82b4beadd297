/**
 * Keeps the names of types and root fields unique. Tables, enums and functions claim names, first come, first served; a later claimant gets
 * the name prefixed with its schema, followed by a number if that is taken too. A table's type names are compared as stem and suffix,
 * because writing out a dozen names for each of thousands of tables costs more than building the rest of the model.
 */

import type { AdditionName } from '../../settings/additions.ts';
import {
  type AdditionSuffix,
  additionSuffixes,
  commonTypeNames,
  fieldsNamed,
  filterTypeName,
  nodeFieldName,
  type TableAbilities,
  type TypeSuffix,
  tableFieldName,
  typeSuffixes,
} from './graphql-names.ts';
import { lowerFirst, withSchema } from './names.ts';

export interface Claimant {
  /** The preferred name. */
  readonly name: string;
  readonly schema: string;
  readonly inflection: boolean;
}

/** A table's row type, the stem of its other types and root fields, and the types that are renamed. */
export interface TableNames {
  readonly typeName: string;
  readonly stem: string;
  readonly renamedTypes: ReadonlyMap<TypeSuffix, string>;
}

type TableSuffix = keyof typeof typeSuffixes;

const suffixes = Object.entries(typeSuffixes) as [TableSuffix, (able: TableAbilities) => boolean][];
const suffixesOfAdditions = Object.keys(additionSuffixes) as AdditionSuffix[];
/** For each addition suffix that longer suffixes end with: the part of the longer ones before it. */
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
  /** Whole type names: common types, row types, enums, renamed types. */
  readonly #types = new Set<string>();
  /** Stems of tables' other types. */
  readonly #stems = new Map<string, TableAbilities>();
  /** For names in `#types` that end with a suffix: what precedes it → suffixes. */
  readonly #beforeSuffix = new Map<string, TableSuffix[]>();
  /** Likewise for addition suffixes. */
  readonly #beforeAddition = new Map<string, AdditionSuffix[]>();
  /** Stems of tables' fields of Query. */
  readonly #collections = new Set<string>();
  readonly #routines = { query: new Set<string>([nodeFieldName]), mutation: new Set<string>() };

  constructor() {
    for (const name of commonTypeNames) this.#takeType(name);
  }

  /**
   * Claims the types and root fields of a table. If another table has its stem, all of them change; otherwise only those that are taken.
   */
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

  /** Claims the types of a table's additions, after all other claims. Returns the new names of those whose default names are taken. */
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

  /** Whether another table may have a type of the same name: `AuthorGroup` + `Key`, `Author` + `GroupKey`. */
  #isOfAnother(stem: string, suffix: AdditionSuffix): boolean {
    return (longerSuffixes.get(suffix) ?? []).some((middle) => stem.endsWith(middle) && this.#stems.has(stem.slice(0, -middle.length)));
  }

  /** Claims the root field and types of a table that is only inserted into, and returns their stem. Everything else has claimed its names. */
  claimInserts(claimant: Claimant, able: TableAbilities): string {
    const isFree = (stem: string) =>
      this.#isStemFree(stem) &&
      (['InsertInput', 'InsertResponse'] as const).every((suffix) => this.#isTypeFree(stem + suffix)) &&
      !this.#routines.mutation.has(tableFieldName({ stem }, 'insert'));
    const stem = isFree(claimant.name) ? claimant.name : this.#firstFree(claimant, isFree);
    this.#stems.set(stem, able);
    return stem;
  }

  /** Claims a row type without any other types, and returns its name. */
  claimRows(claimant: Claimant): string {
    const isFree = (name: string) => this.#isTypeFree(name);
    const name = isFree(claimant.name) ? claimant.name : this.#firstFree(claimant, isFree);
    this.#takeType(name);
    return name;
  }

  /** Claims an enum type and its filter type, and returns the name of the former. */
  claimEnum(claimant: Claimant): string {
    const isFree = (name: string) => this.#isTypeFree(name) && this.#isTypeFree(filterTypeName(name));
    const name = isFree(claimant.name) ? claimant.name : this.#firstFree(claimant, isFree);
    this.#takeType(name);
    this.#takeType(filterTypeName(name));
    return name;
  }

  /** Claims a field of Query or Mutation, and returns its name. All tables must have claimed theirs already. */
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
