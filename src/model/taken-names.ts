/**
 * Which names of types and root fields are taken: those of every schema, and those that tables, enums and functions claim, first come
 * first served, so that no two types or root fields ever have one name. A table's type names are its own with suffixes: they are
 * compared by their parts, as writing out a dozen for each of thousands of tables costs more than all the rest of the model.
 */
import { lowerFirst } from './names.ts';

const scalars = ['Int', 'Float', 'String', 'Boolean', 'ID', 'BigInt', 'BigFloat', 'JSON', 'UUID', 'Date', 'Time', 'Datetime', 'Opaque'];
const commonTypes = [
  ...scalars.flatMap((scalar) => [scalar, `${scalar}Filter`, `${scalar}ListFilter`]),
  'Cursor',
  'FilterIs',
  'OrderByDirection',
  'PageInfo',
  'Node',
  'Query',
  'Mutation',
];

/** What adds to the types and root fields of a table. */
export interface TableAbilities {
  readonly insertable: boolean;
  readonly updatable: boolean;
  readonly deletable: boolean;
  readonly aggregate: boolean;
}

/** The suffixes of the types that belong to a table, and which tables have them. */
const suffixes: readonly (readonly [suffix: string, has: (able: TableAbilities) => boolean])[] = [
  ...['Connection', 'Edge', 'Filter', 'OrderBy'].map((suffix) => [suffix, () => true] as const),
  ...['InsertInput', 'InsertResponse'].map((suffix) => [suffix, (able: TableAbilities) => able.insertable] as const),
  ...['UpdateInput', 'UpdateResponse'].map((suffix) => [suffix, (able: TableAbilities) => able.updatable] as const),
  ['DeleteResponse', (able) => able.deletable],
  ...['Aggregate', 'SumAggregateResult', 'AvgAggregateResult', 'MinAggregateResult', 'MaxAggregateResult'].map(
    (suffix) => [suffix, (able: TableAbilities) => able.aggregate] as const,
  ),
];

/** An enum has a filter. */
const enumAbilities: TableAbilities = { insertable: false, updatable: false, deletable: false, aggregate: false };

export class TakenNames {
  /** By type name, without suffix. */
  readonly #owners = new Map<string, TableAbilities | null>();
  /** What is before a suffix in the names of `#owners`, with the suffixes. */
  readonly #beforeSuffix = new Map<string, string[]>();
  readonly #collections = new Set<string>();
  readonly #routines = { query: new Set(['node']), mutation: new Set<string>() };

  constructor() {
    for (const name of commonTypes) this.#own(name, null);
  }

  /** Takes the types and root fields of a table. Gives the name that is taken already, and takes none then. */
  claimTable(typeName: string, able: TableAbilities): string | undefined {
    const taken = this.#takenType(typeName, able);
    if (taken !== undefined) return taken;
    const collection = lowerFirst(typeName);
    if (this.#collections.has(collection)) return `${collection}Collection`;
    this.#collections.add(collection);
    this.#own(typeName, able);
    return undefined;
  }

  /** Takes the type of an enum and its filter. Gives the name that is taken already, and takes none then. */
  claimEnum(typeName: string): string | undefined {
    const taken = this.#takenType(typeName, enumAbilities);
    if (taken === undefined) this.#own(typeName, enumAbilities);
    return taken;
  }

  /** Takes a field of Query or Mutation; false where it is taken already. All tables have to be there. */
  claimRootField(name: string, root: 'query' | 'mutation'): boolean {
    const routines = this.#routines[root];
    if (routines.has(name) || (root === 'query' ? this.#isTableQuery(name) : this.#isTableMutation(name))) return false;
    routines.add(name);
    return true;
  }

  #own(typeName: string, able: TableAbilities | null): void {
    this.#owners.set(typeName, able);
    for (const [suffix] of suffixes) {
      if (!typeName.endsWith(suffix)) continue;
      const stem = typeName.slice(0, -suffix.length);
      this.#beforeSuffix.set(stem, [...(this.#beforeSuffix.get(stem) ?? []), suffix]);
    }
  }

  #takenType(typeName: string, able: TableAbilities): string | undefined {
    if (this.#owners.has(typeName)) return typeName;
    for (const [suffix, has] of suffixes) {
      if (!typeName.endsWith(suffix)) continue;
      const owner = this.#owners.get(typeName.slice(0, -suffix.length));
      if (owner && has(owner)) return typeName;
    }
    const clashing = this.#beforeSuffix.get(typeName);
    const suffix = clashing && suffixes.find(([candidate, has]) => clashing.includes(candidate) && has(able))?.[0];
    return suffix && typeName + suffix;
  }

  #isTableQuery(name: string): boolean {
    return ['Collection', 'ByPk'].some((suffix) => name.endsWith(suffix) && this.#collections.has(name.slice(0, -suffix.length)));
  }

  #isTableMutation(name: string): boolean {
    const [, typeName] = /^(?:insertInto|update|deleteFrom)(.*)Collection$/.exec(name) ?? [];
    return typeName !== undefined && this.#collections.has(lowerFirst(typeName)) && this.#owners.has(typeName);
  }
}
