/**
 * The named types of a schema, each built on first use, because a request needs only a few of thousands. Types of tables are not even
 * listed: a name is resolved from its stem and suffix, so an unused schema takes almost no memory, however many tables there are.
 */
import {
  assertEnumType,
  assertInputObjectType,
  assertObjectType,
  assertScalarType,
  type GraphQLEnumType,
  type GraphQLFieldConfigMap,
  type GraphQLInputFieldConfigMap,
  GraphQLInputObjectType,
  type GraphQLNamedType,
  GraphQLObjectType,
  type GraphQLScalarType,
} from 'graphql';
import type { JsonTypeNames, Model, Table } from '../../model/model.ts';
import { suffixesOf, type TypeSuffix, tableTypeName, tableTypeSuffixes } from '../../model/naming/graphql-names.ts';
import { numbered } from '../../model/naming/names.ts';
import type { NestedVerb } from '../../model/relations/writable-relations.ts';
import type { MeasuredInput } from '../../model/types/metrics.ts';

/** A kind of type that tables can have. */
export interface TableType {
  /** Whether a readable table has it. */
  readonly has: (table: Table, registry: TypeRegistry) => boolean;
  readonly build: (table: Table, registry: TypeRegistry, name: string) => GraphQLNamedType;
}

type FieldsOf<Fields> = (registry: TypeRegistry, table: Table) => Fields;

/** A kind of object type. `describe` takes the name of the row type. */
export function objectType(
  has: TableType['has'],
  fieldsOf: FieldsOf<GraphQLFieldConfigMap<unknown, unknown>>,
  describe?: (typeName: string) => string,
): TableType {
  const build: TableType['build'] = (table, registry, name) =>
    new GraphQLObjectType({ name, description: describe?.(table.typeName), fields: () => fieldsOf(registry, table) });
  return { has, build };
}

export function inputType(
  has: TableType['has'],
  fieldsOf: FieldsOf<GraphQLInputFieldConfigMap>,
  describe?: (typeName: string) => string,
): TableType {
  const build: TableType['build'] = (table, registry, name) =>
    new GraphQLInputObjectType({ name, description: describe?.(table.typeName), fields: () => fieldsOf(registry, table) });
  return { has, build };
}

/** The kinds of types, by the suffix of their names; `row` is the type of a table's rows. */
export type TableTypes = Readonly<Record<TypeSuffix | 'row', TableType>>;

/** What nested writes of other tables can do with a table's rows, by the suffix of the input type. */
export type NestedVerbs = ReadonlyMap<RelatedSuffix, ReadonlySet<NestedVerb>>;
export type RelatedSuffix = 'InsertToOne' | 'InsertToMany' | 'UpdateToOne' | 'UpdateToMany';

/** Shared by the groups of all tables. */
export interface Groups {
  /** The enums that say how to group by a column, for each kind of column. */
  readonly units: Readonly<Record<'value' | 'date' | 'time', GraphQLEnumType>>;
  /** The tables whose columns are keys of groups, if they may lack groups of their own. */
  readonly reached: ReadonlySet<Table>;
}

/** The types of a table that the role may only insert into. */
const ofInserts: ReadonlySet<TypeSuffix> = new Set(['InsertInput', 'InsertResponse']);

export class TypeRegistry {
  readonly #factories = new Map<string, () => GraphQLNamedType>();
  readonly #always = new Set<string>();
  readonly #built = new Map<string, GraphQLNamedType>();
  readonly #types: TableTypes | null;
  /** Tables with all types, by stem. */
  readonly #stems = new Map<string, Table>();
  /** Tables whose row type is not named after the stem, by the name of the row type. */
  readonly #rows = new Map<string, Table>();
  /** Types that could not have their default names, by the names that they have. */
  readonly #renamed = new Map<string, readonly [Table, TypeSuffix]>();
  readonly nodeIdField: string;
  readonly jsonTypes: JsonTypeNames | null;
  readonly typeFilters: Model['typeFilters'];
  readonly rangeTypes: Model['rangeTypes'];
  readonly listFilters: Model['listFilters'];
  readonly geoTypes: Model['geoTypes'];
  /** Null if no table has groups. */
  groups: Groups | null = null;
  /** The input of searches; null if no table can be searched. */
  searchInput: GraphQLInputObjectType | null = null;
  /** What the nearest rows are found by; empty if no table has values with distances. */
  readonly nearest = new Map<MeasuredInput, GraphQLInputObjectType>();
  /** How searches and nearest rows are fused; null if no table has both. */
  fusion: GraphQLInputObjectType | null = null;
  /** A cache of what nested writes can do with a table's rows. */
  readonly nestedVerbs = new Map<Table, NestedVerbs>();

  /** Without a model, it has only the types that are defined. */
  constructor(
    model: Pick<
      Model,
      'tables' | 'rowTypes' | 'nodeIdField' | 'jsonTypes' | 'typeFilters' | 'rangeTypes' | 'listFilters' | 'geoTypes'
    > | null = null,
    types: TableTypes | null = null,
  ) {
    this.nodeIdField = model?.nodeIdField ?? 'nodeId';
    this.jsonTypes = model?.jsonTypes ?? null;
    this.typeFilters = model?.typeFilters ?? new Map();
    this.rangeTypes = model?.rangeTypes ?? new Map();
    this.listFilters = model?.listFilters ?? new Map();
    this.geoTypes = model?.geoTypes ?? null;
    this.#types = types;
    for (const table of model?.tables ?? []) {
      this.#stems.set(table.stem, table);
      if (table.typeName !== table.stem) this.#rows.set(table.typeName, table);
      for (const [suffix, name] of table.renamedTypes) this.#renamed.set(name, [table, suffix]);
    }
    for (const table of model?.rowTypes ?? []) this.#rows.set(table.typeName, table);
  }

  /** Adds a type that is built on demand, and listed if anything leads to it. Each name can be defined only once. */
  define(name: string, factory: () => GraphQLNamedType): void {
    if (this.has(name)) throw new Error(`The type ${name} is defined twice.`);
    this.#factories.set(name, factory);
  }

  /** Adds one that pg_graphql lists, whether or not anything leads to it. */
  defineAlways(name: string, factory: () => GraphQLNamedType): void {
    this.define(name, factory);
    this.#always.add(name);
  }

  /** Adds a type that gives way if its name is taken, and returns it. */
  defineFree<Type extends GraphQLNamedType>(wish: string, make: (name: string) => Type): Type {
    const type = make(numbered(wish, (candidate) => !this.has(candidate)));
    this.define(type.name, () => type);
    return type;
  }

  has(name: string): boolean {
    return this.#factories.has(name) || this.#find(name) !== undefined;
  }

  hasOf(table: Table, suffix: TypeSuffix | 'row'): boolean {
    const hasAll = this.#stems.get(table.stem) === table;
    if (suffix === 'row') return (hasAll && table.selectable) || this.#rows.get(table.typeName) === table;
    return hasAll && (table.selectable || ofInserts.has(suffix)) && this.#types![suffix].has(table, this);
  }

  /** The table with this stem, if it has root fields. */
  tableOf(stem: string): Table | undefined {
    return this.#stems.get(stem);
  }

  /** The names of types to which perhaps nothing leads. */
  *conditionalNames(): Generator<string, void> {
    for (const name of this.#factories.keys()) if (!this.#always.has(name)) yield name;
  }

  /** All names, without building any type. */
  *names(): Generator<string, void> {
    yield* this.#factories.keys();
    for (const table of this.#stems.values()) {
      if (table.selectable) yield table.typeName;
      for (const suffix of tableTypeSuffixes) if (this.hasOf(table, suffix)) yield tableTypeName(table, suffix);
    }
    for (const table of this.#rows.values()) if (this.#stems.get(table.stem) !== table) yield table.typeName;
  }

  get(name: string): GraphQLNamedType | undefined {
    return this.#built.get(name) ?? this.#keep(name, (this.#factories.get(name) ?? this.#find(name))?.());
  }

  /** Builds a type listed by `names` without caching it: its fields take memory once they are read. */
  build(name: string): GraphQLNamedType | undefined {
    return (this.#factories.get(name) ?? this.#find(name))?.();
  }

  countBuilt(): number {
    return this.#built.size;
  }

  object(name: string): GraphQLObjectType {
    return assertObjectType(this.#require(name));
  }

  input(name: string): GraphQLInputObjectType {
    return assertInputObjectType(this.#require(name));
  }

  enum(name: string): GraphQLEnumType {
    return assertEnumType(this.#require(name));
  }

  scalar(name: string): GraphQLScalarType {
    return assertScalarType(this.#require(name));
  }

  findRow(table: Table): GraphQLObjectType | undefined {
    return this.hasOf(table, 'row') ? this.rowOf(table) : undefined;
  }

  /** The type of a table's row as the value of a column; that of its rows where values have none. */
  findValue(table: Table): GraphQLObjectType | undefined {
    const name = table.composite?.valueName ?? null;
    return name === null || !this.hasOf(table, 'row') ? this.findRow(table) : this.object(name);
  }

  rowOf(table: Table): GraphQLObjectType {
    return assertObjectType(this.#require(table.typeName));
  }

  objectOf(table: Table, suffix: TypeSuffix): GraphQLObjectType {
    return assertObjectType(this.#requireOf(table, suffix));
  }

  inputOf(table: Table, suffix: TypeSuffix): GraphQLInputObjectType {
    return assertInputObjectType(this.#requireOf(table, suffix));
  }

  enumOf(table: Table, suffix: TypeSuffix): GraphQLEnumType {
    return assertEnumType(this.#requireOf(table, suffix));
  }

  #require(name: string): GraphQLNamedType {
    const type = this.get(name);
    if (!type) throw new Error(`The type ${name} is not defined.`);
    return type;
  }

  #requireOf(table: Table, suffix: TypeSuffix): GraphQLNamedType {
    const name = tableTypeName(table, suffix);
    const built = this.#built.get(name);
    if (built) return built;
    if (!this.hasOf(table, suffix)) throw new Error(`The type ${name} is not defined.`);
    return this.#keep(name, this.#types![suffix].build(table, this, name))!;
  }

  #keep(name: string, type: GraphQLNamedType | undefined): GraphQLNamedType | undefined {
    if (type) this.#built.set(name, type);
    return type;
  }

  #find(name: string): (() => GraphQLNamedType) | undefined {
    const table = this.#rows.get(name) ?? this.#stems.get(name);
    if (table?.typeName === name && table.selectable) return () => this.#types!.row.build(table, this, name);
    const renamed = this.#renamed.get(name);
    const owners = renamed ? [renamed] : this.#split(name);
    const found = owners.find(([owner, suffix]) => this.hasOf(owner, suffix));
    return found && (() => this.#types![found[1]].build(found[0], this, name));
  }

  /** The ways to split a name into a table's stem and a suffix. The model makes sure that at most one of these tables has the type. */
  #split(name: string): (readonly [Table, TypeSuffix])[] {
    return suffixesOf(name).flatMap((suffix) => {
      const table = this.#stems.get(name.slice(0, -suffix.length));
      return table && !table.renamedTypes.has(suffix) ? [[table, suffix] as const] : [];
    });
  }
}
