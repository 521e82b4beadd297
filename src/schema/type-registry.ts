/**
 * The named types of one schema, each built on first use: a request needs a few of thousands. The types of tables are not even listed: what a name stands
 * for follows from its parts, so that a schema that nobody has asked for anything takes next to no memory, whatever the number of tables.
 */
import type { GraphQLEnumType, GraphQLField, GraphQLInputObjectType, GraphQLNamedType, GraphQLObjectType } from 'graphql';
import { suffixesOf, type TypeSuffix, tableTypeName, tableTypeSuffixes } from '../model/graphql-names.ts';
import type { Table } from '../model/model.ts';
import type { NestedVerb } from '../model/writable-relations.ts';

/** The fields of a type that has too many to build, or even list, at once. */
export interface ManyFields {
  readonly names: () => Iterable<string>;
  /** Builds them one by one, without keeping them. */
  readonly buildEach: () => Iterable<GraphQLField<unknown, unknown>>;
}

/** One of the types that tables have. */
export interface TableType {
  /** Whether a table that can be read has it. */
  readonly has: (table: Table, registry: TypeRegistry) => boolean;
  readonly build: (table: Table, registry: TypeRegistry, name: string) => GraphQLNamedType;
}

/** The types of tables by what follows the stem in their names. */
export type TableTypes = Readonly<Record<TypeSuffix, TableType>>;

/** The enums of what rows of a group have in common of a column, by its type. */
export interface GroupUnits {
  readonly value: GraphQLEnumType;
  readonly date: GraphQLEnumType;
  readonly time: GraphQLEnumType;
}

/** What the inputs of other tables can do with the rows of one, by the suffix of the type that they have for it. */
export type NestedVerbs = Readonly<Record<'InsertToOne' | 'InsertToMany' | 'UpdateToOne' | 'UpdateToMany', ReadonlySet<NestedVerb>>>;

/** What the groups of all tables share. */
export interface Groups {
  readonly units: GroupUnits;
  /** The tables that have none themselves, but whose columns are keys of the groups of others. */
  readonly reached: ReadonlySet<Table>;
}

/** The tables of a schema. */
export interface RegisteredTables {
  /** Those with all types. */
  readonly tables: readonly Table[];
  /** Those with a row type alone. */
  readonly rowTypes: readonly Table[];
  readonly nodeIdField: string;
  readonly types: TableTypes;
  /** Builds the type of a row. */
  readonly buildRow: (table: Table, registry: TypeRegistry) => GraphQLNamedType;
}

export class TypeRegistry {
  readonly #factories = new Map<string, () => GraphQLNamedType>();
  readonly #fields = new Map<string, ManyFields>();
  readonly #built = new Map<string, GraphQLNamedType>();
  readonly #types: TableTypes | null;
  readonly #buildRow: RegisteredTables['buildRow'] | null;
  /** The tables with all types, by what the names of their types begin with. */
  readonly #stems = new Map<string, Table>();
  /** The tables whose row types have a name that is not their stem. */
  readonly #rows = new Map<string, Table>();
  /** The types of tables whose plain names are taken. */
  readonly #renamed = new Map<string, readonly [Table, TypeSuffix]>();
  /** The name of the global identifier of rows. */
  readonly nodeIdField: string;
  /** Null where no table has groups. */
  groups: Groups | null = null;
  /** What nested writes can do with the rows of a table, as far as somebody has asked. */
  readonly nestedVerbs = new Map<Table, NestedVerbs>();

  constructor({ tables, rowTypes, types, buildRow, nodeIdField = 'nodeId' }: Partial<RegisteredTables> = {}) {
    this.nodeIdField = nodeIdField;
    this.#types = types ?? null;
    this.#buildRow = buildRow ?? null;
    for (const table of tables ?? []) {
      this.#stems.set(table.stem, table);
      if (table.typeName !== table.stem) this.#rows.set(table.typeName, table);
      for (const [suffix, name] of table.renamedTypes) this.#renamed.set(name, [table, suffix]);
    }
    for (const table of rowTypes ?? []) this.#rows.set(table.typeName, table);
  }

  /** Adds a type that is built on demand. Each name can be defined only once. */
  define(name: string, factory: () => GraphQLNamedType): void {
    if (this.has(name)) throw new Error(`The type ${name} is defined twice.`);
    this.#factories.set(name, factory);
  }

  /** Adds access to the fields of a type that has too many to build at once. */
  defineFields(name: string, fields: ManyFields): void {
    this.#fields.set(name, fields);
  }

  has(name: string): boolean {
    return this.#factories.has(name) || this.#find(name) !== undefined;
  }

  /** Whether a table has a type: one of its own, or that of its rows. */
  hasOf(table: Table, suffix: TypeSuffix | 'row'): boolean {
    const hasAll = this.#stems.get(table.stem) === table;
    if (suffix === 'row') return hasAll || this.#rows.get(table.typeName) === table;
    return hasAll && this.#types![suffix].has(table, this);
  }

  /** The table with this stem. */
  tableOf(stem: string): Table | undefined {
    return this.#stems.get(stem);
  }

  /** All names, without building anything. */
  *names(): Generator<string, void> {
    yield* this.#factories.keys();
    for (const table of this.#stems.values()) {
      yield table.typeName;
      for (const suffix of tableTypeSuffixes) if (this.hasOf(table, suffix)) yield tableTypeName(table, suffix);
    }
    for (const table of this.#rows.values()) if (this.#stems.get(table.stem) !== table) yield table.typeName;
  }

  get(name: string): GraphQLNamedType | undefined {
    return this.#built.get(name) ?? this.#keep(name, (this.#factories.get(name) ?? this.#find(name))?.());
  }

  /** A new copy of a type that `names` has listed, to be read once and dropped: its fields take memory as soon as they are read. */
  build(name: string): GraphQLNamedType | undefined {
    return (this.#factories.get(name) ?? this.#find(name, true))?.();
  }

  /** How many types are built, and kept. */
  countBuilt(): number {
    return this.#built.size;
  }

  /** The fields of a type that has many; undefined for other types. */
  fieldsOf(name: string): ManyFields | undefined {
    return this.#fields.get(name);
  }

  /** The object type of this name, which must have been defined. */
  object(name: string): GraphQLObjectType {
    return this.#require(name) as GraphQLObjectType;
  }

  /** The input object type of this name, which must have been defined. */
  input(name: string): GraphQLInputObjectType {
    return this.#require(name) as GraphQLInputObjectType;
  }

  /** The enum type of this name, which must have been defined. */
  enum(name: string): GraphQLEnumType {
    return this.#require(name) as GraphQLEnumType;
  }

  /** The type of a table's rows, which must be in the schema. */
  rowOf(table: Table): GraphQLObjectType {
    return this.#require(table.typeName) as GraphQLObjectType;
  }

  /** An object type of a table, which must have it. */
  objectOf(table: Table, suffix: TypeSuffix): GraphQLObjectType {
    return this.#requireOf(table, suffix) as GraphQLObjectType;
  }

  /** An input object type of a table, which must have it. */
  inputOf(table: Table, suffix: TypeSuffix): GraphQLInputObjectType {
    return this.#requireOf(table, suffix) as GraphQLInputObjectType;
  }

  /** An enum type of a table, which must have it. */
  enumOf(table: Table, suffix: TypeSuffix): GraphQLEnumType {
    return this.#requireOf(table, suffix) as GraphQLEnumType;
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

  /** What builds the type of a table that has this name. `isListed`: the schema is known to have the type. */
  #find(name: string, isListed = false): (() => GraphQLNamedType) | undefined {
    const table = this.#rows.get(name) ?? this.#stems.get(name);
    if (table?.typeName === name) return () => this.#buildRow!(table, this);
    const renamed = this.#renamed.get(name);
    const owners = renamed ? [renamed] : this.#split(name);
    const found = isListed && owners.length === 1 ? owners[0] : owners.find(([owner, suffix]) => this.hasOf(owner, suffix));
    return found && (() => this.#types![found[1]].build(found[0], this, name));
  }

  /** The tables and suffixes that a name can be read as. The model sees to it that only one of the tables has the type. */
  #split(name: string): (readonly [Table, TypeSuffix])[] {
    return suffixesOf(name).flatMap((suffix) => {
      const table = this.#stems.get(name.slice(0, -suffix.length));
      return table && !table.renamedTypes.has(suffix) ? [[table, suffix] as const] : [];
    });
  }
}
