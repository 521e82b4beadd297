/**
 * Which names of types and root fields are taken: those of every schema, and those that tables, enums and functions claim, first come
 * first served, so that no two types or root fields ever have one name.
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

/** What of a table adds to its types. */
export interface TableAbilities {
  readonly insertable: boolean;
  readonly updatable: boolean;
  readonly deletable: boolean;
  readonly aggregate: boolean;
}

export class TakenNames {
  readonly #types = new Set(commonTypes);
  readonly #queryFields = new Set(['node']);
  readonly #mutationFields = new Set<string>();

  /** Takes the types and root fields of a table. Gives the name that is taken already, and takes none then. */
  claimTable(typeName: string, able: TableAbilities): string | undefined {
    const { types, mutations } = namesOfTable(typeName, able);
    const queries = [`${lowerFirst(typeName)}Collection`, `${lowerFirst(typeName)}ByPk`];
    const taken =
      types.find((name) => this.#types.has(name)) ??
      queries.find((name) => this.#queryFields.has(name)) ??
      mutations.find((name) => this.#mutationFields.has(name));
    if (taken !== undefined) return taken;
    for (const name of types) this.#types.add(name);
    for (const name of queries) this.#queryFields.add(name);
    for (const name of mutations) this.#mutationFields.add(name);
    return undefined;
  }

  /** Takes the type of an enum and its filter. Gives the name that is taken already, and takes none then. */
  claimEnum(typeName: string): string | undefined {
    const types = [typeName, `${typeName}Filter`];
    const taken = types.find((name) => this.#types.has(name));
    if (taken === undefined) for (const name of types) this.#types.add(name);
    return taken;
  }

  /** Takes a field of Query or Mutation; false where it is taken already. */
  claimRootField(name: string, root: 'query' | 'mutation'): boolean {
    const fields = root === 'query' ? this.#queryFields : this.#mutationFields;
    return !fields.has(name) && fields.add(name).has(name);
  }
}

function namesOfTable(typeName: string, able: TableAbilities): { types: string[]; mutations: string[] } {
  const types = ['', 'Connection', 'Edge', 'Filter', 'OrderBy'];
  const mutations: string[] = [];
  if (able.insertable) {
    types.push('InsertInput', 'InsertResponse');
    mutations.push(`insertInto${typeName}Collection`);
  }
  if (able.updatable) {
    types.push('UpdateInput', 'UpdateResponse');
    mutations.push(`update${typeName}Collection`);
  }
  if (able.deletable) {
    types.push('DeleteResponse');
    mutations.push(`deleteFrom${typeName}Collection`);
  }
  if (able.aggregate) types.push('Aggregate', ...['Sum', 'Avg', 'Min', 'Max'].map((kind) => `${kind}AggregateResult`));
  return { types: types.map((suffix) => typeName + suffix), mutations };
}
