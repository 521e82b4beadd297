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
  listFilterTypeName,
  nodeFieldName,
  searchTypeNames,
  subscriptionTypeName,
  suffixesOf,
  type TableAbilities,
  type TypeSuffix,
  tableFieldName,
  typeSuffixes,
} from './graphql-names.ts';
import { lowerFirst, numbered, withSchema } from './names.ts';

interface Claimant {
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

const suffixesOfAdditions = Object.keys(additionSuffixes) as AdditionSuffix[];
const noneRenamed: TableNames['renamedTypes'] = new Map();

/** Whether a table has the type with this suffix, besides those of additions. */
function hasType(suffix: TypeSuffix, able: TableAbilities): boolean {
  return suffix in typeSuffixes && typeSuffixes[suffix as keyof typeof typeSuffixes](able);
}

export class ClaimedNames {
  readonly #types = new Set<string>();
  /** Stems of tables' other types. */
  readonly #stems = new Map<string, TableAbilities>();
  /** For names in `#types` that end with a suffix: what precedes it → suffixes. */
  readonly #beforeSuffix = new Map<string, TypeSuffix[]>();
  readonly #collections = new Set<string>();
  readonly #routines = { query: new Set<string>([nodeFieldName]), mutation: new Set<string>() };

  constructor() {
    for (const name of commonTypeNames) this.#claimType(name);
  }

  /**
   * Claims the types and root fields of a table. If another table has its stem, all of them change; otherwise only those that are taken.
   */
  claimTable(claimant: Claimant, able: TableAbilities): TableNames {
    const { name } = claimant;
    const stem = this.#isStemFree(name) ? name : this.#firstFree(claimant, (other) => this.#isWhollyFree(other, able));
    const typeName = this.#isTypeFree(stem) ? stem : this.#firstFree(claimant, (other) => this.#isTypeFree(other));
    const clashing = this.#claimedBefore(stem).filter((suffix) => hasType(suffix, able));
    this.#stems.set(stem, able);
    this.#collections.add(lowerFirst(stem));
    this.#claimType(typeName);
    if (clashing.length === 0) return { typeName, stem, renamedTypes: noneRenamed };
    return { typeName, stem, renamedTypes: this.#rename(claimant, clashing, (other) => this.#isTypeFree(other)) };
  }

  /** Claims the types of a table's additions, after all other claims. Returns the new names of those whose default names are taken. */
  claimAdditions(claimant: Claimant, has: (addition: AdditionName) => boolean): ReadonlyMap<TypeSuffix, string> {
    const claimed = this.#claimedBefore(claimant.name);
    const clashing = suffixesOfAdditions.filter(
      (suffix) => has(additionSuffixes[suffix]) && (claimed.includes(suffix) || this.#isOfAnother(claimant.name, suffix)),
    );
    return this.#rename(claimant, clashing, (other, stem) => !this.#stems.has(stem) && this.#isTypeFree(other));
  }

  #rename(
    claimant: Claimant,
    suffixes: readonly TypeSuffix[],
    isFree: (name: string, stem: string) => boolean,
  ): ReadonlyMap<TypeSuffix, string> {
    const renamed = new Map<TypeSuffix, string>();
    for (const suffix of suffixes) {
      const other = this.#firstFree(claimant, (stem) => isFree(stem + suffix, stem)) + suffix;
      this.#claimType(other);
      renamed.set(suffix, other);
    }
    return renamed;
  }

  /** Whether another table may have a type of the same name: `AuthorGroup` + `Key`, `Author` + `GroupKey`. */
  #isOfAnother(stem: string, suffix: AdditionSuffix): boolean {
    const name = stem + suffix;
    return suffixesOf(name).some((longer) => longer.length > suffix.length && this.#stems.has(name.slice(0, -longer.length)));
  }

  /**
   * Claims the root field and types of a table that is only inserted into, and returns their stem. Everything else has claimed its names.
   */
  claimInserts(claimant: Claimant, able: TableAbilities): string {
    const stem = this.#claim(
      claimant,
      (name) =>
        this.#isStemFree(name) &&
        (['InsertInput', 'InsertResponse'] as const).every((suffix) => this.#isTypeFree(name + suffix)) &&
        !this.#routines.mutation.has(tableFieldName({ stem: name }, 'insert')),
    );
    this.#stems.set(stem, able);
    return stem;
  }

  claimRows(claimant: Claimant): string {
    const name = this.#claim(claimant, (other) => this.#isTypeFree(other));
    this.#claimType(name);
    return name;
  }

  /** Claims an enum type and its filter type, and returns the name of the former. */
  claimEnum(claimant: Claimant): string {
    const name = this.#claim(claimant, (other) => this.#isTypeFree(other) && this.#isTypeFree(filterTypeName(other)));
    this.#claimType(name);
    this.#claimType(filterTypeName(name));
    return name;
  }

  /** Claims the filter of an enum's lists, and returns whether its name is free. */
  claimListFilter(typeName: string): boolean {
    const name = listFilterTypeName(typeName);
    if (!this.#isTypeFree(name)) return false;
    this.#claimType(name);
    return true;
  }

  /** Claims a domain's scalar and the filter types of its values and lists, and returns the name of the scalar. */
  claimDomain(claimant: Claimant): string {
    const namesWith = (name: string): string[] => [name, filterTypeName(name), listFilterTypeName(name)];
    const name = this.#claim(claimant, (other) => namesWith(other).every((each) => this.#isTypeFree(each)));
    for (const each of namesWith(name)) this.#claimType(each);
    return name;
  }

  /** Claims the name of the root type of subscriptions, after all other types: a table may be called Subscription. */
  claimSubscriptionType(): string {
    return this.#claimOne(subscriptionTypeName, `${subscriptionTypeName}Root`);
  }

  /** Claims the types of searches, after all other types. */
  claimSearchTypes(): Readonly<Record<keyof typeof searchTypeNames, string>> {
    const { input, mode, config } = searchTypeNames;
    return {
      input: this.#claimOne(input, `Text${input}`),
      mode: this.#claimOne(mode, `Text${mode}`),
      config: this.#claimOne(config, `Text${config}`),
    };
  }

  #claimOne(name: string, other: string): string {
    const isFree = (each: string) => this.#isTypeFree(each);
    const claimed = [name, other].find(isFree) ?? numbered(other, isFree);
    this.#claimType(claimed);
    return claimed;
  }

  /** Claims the name of a type of no table, after those of all tables: one that is taken is followed by a number. */
  claimShared(name: string): string {
    const isOfAddition = (other: string) => suffixesOf(other).some((suffix) => this.#stems.has(other.slice(0, -suffix.length)));
    const claimed = numbered(name, (other) => this.#isTypeFree(other) && !isOfAddition(other));
    this.#claimType(claimed);
    return claimed;
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

  /** Claims a field of Query that looks up rows, after all other fields: a taken name is followed by a number. */
  claimLookup(name: string): string {
    const claimed = this.#routines.query;
    const isFree = (other: string) => !claimed.has(other) && !fieldsNamed(other, 'query').some(({ stem }) => this.#collections.has(stem));
    const free = numbered(name, isFree);
    claimed.add(free);
    return free;
  }

  #claim(claimant: Claimant, isFree: (name: string) => boolean): string {
    return isFree(claimant.name) ? claimant.name : this.#firstFree(claimant, isFree);
  }

  #firstFree({ name, schema, inflection }: Claimant, isFree: (name: string) => boolean): string {
    return numbered(withSchema(name, schema, inflection), isFree);
  }

  #claimType(name: string): void {
    this.#types.add(name);
    for (const suffix of suffixesOf(name)) {
      const stem = name.slice(0, -suffix.length);
      this.#beforeSuffix.set(stem, [...this.#claimedBefore(stem), suffix]);
    }
  }

  /** The suffixes of types that are taken by others. */
  #claimedBefore(stem: string): readonly TypeSuffix[] {
    return this.#beforeSuffix.get(stem) ?? [];
  }

  #isTypeFree(name: string): boolean {
    if (this.#types.has(name)) return false;
    return !suffixesOf(name).some((suffix) => {
      const owner = this.#stems.get(name.slice(0, -suffix.length));
      return owner !== undefined && hasType(suffix, owner);
    });
  }

  #isStemFree(stem: string): boolean {
    return !this.#stems.has(stem) && !this.#collections.has(lowerFirst(stem));
  }

  #isWhollyFree(stem: string, able: TableAbilities): boolean {
    if (!this.#isStemFree(stem) || !this.#isTypeFree(stem)) return false;
    return !this.#claimedBefore(stem).some((suffix) => hasType(suffix, able));
  }
}
