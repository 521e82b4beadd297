/** Random objects of inserts and updates with related rows in them, mostly such as can be written: keys that are new, or that rows have. */
import { type GraphQLEnumType, type GraphQLInputField, type GraphQLInputObjectType, type GraphQLInputType, getNamedType } from 'graphql';
import type { Column, Relation } from '../../src/model/model.ts';
import type { LoadedRow, LoadedTable, World } from './loaded-tables.ts';
import { isOfRelation } from './nested-inputs.ts';
import { isOutgoing, isPlainRelation, loadedTarget, mayWriteKey } from './nested-relations.ts';
import type { SelectionMaker } from './random-selection.ts';
import { columnOf } from './schema-description.ts';

type Value = Record<string, unknown>;

export class NestedMaker {
  readonly #maker: SelectionMaker;
  readonly #world: World;
  /** Rows that are connected already, and tables with an upsert: what meets in one request has no order that PostgreSQL promises. */
  readonly #used = new Set<unknown>();

  constructor(maker: SelectionMaker, world: World) {
    this.#maker = maker;
    this.#world = world;
  }

  /** Whether an input type has members for related rows. */
  static isNested(type: GraphQLInputObjectType): boolean {
    return Object.values(type.getFields()).some(isOfRelation);
  }

  /** An object of an insert. The columns of the key to its parent are left to that. */
  insertObject(type: GraphQLInputObjectType, table: LoadedTable, depth: number, filled: readonly string[] = []): Value {
    const members = this.#members(type, table, depth, filled, (relation, inner) => this.#inInsert(inner, table, relation, depth));
    const taken = new Set([...filled, ...members.flatMap(({ relation }) => filledColumns(table, relation))]);
    return {
      ...this.#columns(type, table, taken, 0.6),
      ...Object.fromEntries(members.map(({ field, value }) => [field.name, value])),
    };
  }

  /** An object of an update. */
  updateObject(type: GraphQLInputObjectType, table: LoadedTable, depth: number): Value {
    const members = this.#members(type, table, depth, [], (relation, inner) => this.#inUpdate(inner, table, relation, depth));
    const taken = new Set(members.flatMap(({ relation }) => filledColumns(table, relation)));
    const isWithColumns = this.#maker.random.chance(0.6) || members.every(({ value }) => value === null);
    const columns = isWithColumns ? this.#columns(type, table, taken, 0.25, false) : {};
    const some =
      Object.keys(columns).length > 0 || members.some(({ value }) => value !== null)
        ? columns
        : this.#columns(type, table, taken, 1, false);
    return { ...some, ...Object.fromEntries(members.map(({ field, value }) => [field.name, value])) };
  }

  #members(
    type: GraphQLInputObjectType,
    table: LoadedTable,
    depth: number,
    filled: readonly string[],
    make: (relation: Relation, type: GraphQLInputObjectType) => unknown,
  ) {
    const { random } = this.#maker;
    const found = Object.values(type.getFields()).flatMap((field) => {
      const inner = getNamedType(field.type) as GraphQLInputObjectType;
      const relation = isOfRelation(field) && table.names.relations.find(({ fieldName }) => fieldName === field.name);
      return relation && isPlainRelation(this.#world, table, relation) ? [{ field, relation, inner }] : [];
    });
    const chosen = depth > 0 ? random.sample(found, random.pick([0, 1, 1, 2])) : [];
    const taken = new Set(filled);
    return found
      .filter((each) => chosen.includes(each))
      .flatMap(({ field, relation, inner }) => {
        const columns = filledColumns(table, relation);
        if (columns.some((column) => taken.has(column))) return [];
        for (const column of columns) taken.add(column);
        return [{ field, relation, value: random.chance(0.03) ? null : make(relation, inner) }];
      });
  }

  #inInsert(type: GraphQLInputObjectType, table: LoadedTable, relation: Relation, depth: number): unknown {
    const { random } = this.#maker;
    const members = Object.values(type.getFields()).filter(({ name }) => mayWriteKey(table, relation, name, 'insert'));
    if (members.length === 0) return null;
    if (relation.kind === 'to-one') {
      const member = random.pick(members);
      const element = this.#element(member, table, relation, depth);
      return element === undefined ? null : { [member.name]: element };
    }
    return Object.fromEntries(
      random.sample(members, random.pick([0, 1, 1, 2])).map((member) => [member.name, this.#list(member, table, relation, depth)]),
    );
  }

  #inUpdate(type: GraphQLInputObjectType, table: LoadedTable, relation: Relation, depth: number): unknown {
    const { random } = this.#maker;
    const members = Object.values(type.getFields()).filter(({ name }) => mayWriteKey(table, relation, name, 'update'));
    if (members.length === 0) return null;
    const chosen = relation.kind === 'to-one' ? [random.pick(members)] : random.sample(members, random.pick([1, 1, 2, 3]));
    const changes = chosen
      .map((member) => [member.name, this.#change(member, table, relation, depth)] as const)
      .filter(([, value]) => value !== undefined);
    return changes.length > 0 ? Object.fromEntries(changes) : null;
  }

  #change(member: GraphQLInputField, table: LoadedTable, relation: Relation, depth: number): unknown {
    const { random } = this.#maker;
    const target = loadedTarget(this.#world, relation);
    if (String(member.type) === 'Boolean') return random.chance(0.9);
    if (relation.kind === 'to-many' && (member.name === 'disconnect' || member.name === 'delete')) return this.#bounded(member, target);
    if (member.name !== 'update') {
      if (relation.kind === 'to-one') return this.#element(member, table, relation, depth);
      // Rows of several parents are created in an order that nothing promises, which numbers that are drawn would tell.
      const isNumbered = target.description.columns.some(({ identity }) => identity);
      return this.#list(member, table, relation, depth).slice(0, isNumbered ? 1 : undefined);
    }
    const one = () => {
      const type = getNamedType(member.type) as GraphQLInputObjectType;
      const set = this.updateObject(getNamedType(type.getFields().set!.type) as GraphQLInputObjectType, target, depth - 1);
      const json = type.getFields().json;
      const changes = json && random.chance(0.5) ? this.#maker.values.changes(json.type, target.names.typeName, set) : null;
      return { ...this.#bounded(member, target), set, ...(changes && { json: changes }) };
    };
    return relation.kind === 'to-one' ? one() : Array.from({ length: random.pick([1, 1, 2]) }, one);
  }

  /** Which rows, and how many. */
  #bounded(member: GraphQLInputField, target: LoadedTable): Value {
    const { random, values } = this.#maker;
    const { filter, atMost } = (getNamedType(member.type) as GraphQLInputObjectType).getFields();
    return {
      ...(filter &&
        random.chance(0.5) && { filter: values.restriction(getNamedType(filter.type) as GraphQLInputObjectType, target.names.typeName) }),
      ...(atMost && random.chance(0.9) && { atMost: random.pick([1, 2, 50, 50]) }),
    };
  }

  #list(member: GraphQLInputField, table: LoadedTable, relation: Relation, depth: number): unknown[] {
    const count = this.#maker.random.pick([0, 1, 1, 2]);
    return Array.from({ length: count }, () => this.#element(member, table, relation, depth)).filter((each) => each !== undefined);
  }

  /** What is created, connected or upserted. */
  #element(member: GraphQLInputField, table: LoadedTable, relation: Relation, depth: number): unknown {
    const target = loadedTarget(this.#world, relation);
    const type = getNamedType(member.type) as GraphQLInputObjectType;
    const filled = isOutgoing(table, relation) ? [] : relation.columns.map(({ target: column }) => column);
    if (member.name === 'create') return this.insertObject(type, target, depth - 1, filled);
    if (member.name !== 'connectOrCreate') return this.#key(type, target);
    // A constraint must be given whole, which takes fields for its columns.
    if (!givesKeys(type, target)) return undefined;
    const { create, onConflict } = type.getFields();
    const object = this.insertObject(getNamedType(create!.type) as GraphQLInputObjectType, target, 0, filled);
    // Where a key is not given, the request fails even if no row leads there.
    const isGiven = ({ name, fieldName }: Column) =>
      filled.includes(name) || (Object.hasOwn(object, fieldName) && object[fieldName] !== null);
    if (!keyColumns(target).every((column) => column && isGiven(column))) return undefined;
    const isFirst = !this.#used.has(target);
    this.#used.add(target);
    const row = isFirst && this.#maker.random.chance(0.6) ? this.#unusedRow(target) : undefined;
    return {
      create: row ? { ...object, ...this.#keyOf(row, object) } : object,
      onConflict: this.#conflict(getNamedType(onConflict!.type) as GraphQLInputObjectType, target),
    };
  }

  /** The values of a row's keys, as far as the object has the columns. */
  #keyOf(row: LoadedRow, object: Value): Value {
    const { description, names } = row.table;
    const keys = new Set([...description.primaryKey, ...description.uniqueKeys.flat()]);
    const columns = names.columns.filter(({ name, fieldName }) => keys.has(name) && Object.hasOwn(object, fieldName));
    return Object.fromEntries(columns.map(({ name, fieldName }) => [fieldName, row.values.get(name)?.json ?? object[fieldName]]));
  }

  /** By a key of all rows: another is refused even if nothing is written. */
  #conflict(type: GraphQLInputObjectType, { names }: LoadedTable): Value {
    const { constraint, updateColumns } = type.getFields();
    const namesOf = (field: GraphQLInputField) => (getNamedType(field.type) as GraphQLEnumType).getValues().map(({ name }) => name);
    const { random } = this.#maker;
    const partial = names.arbiters.filter(({ target }) => target.kind === 'index' && target.condition !== null);
    return {
      constraint: random.pick(namesOf(constraint!).filter((name) => !partial.some(({ valueName }) => valueName === name))),
      ...(updateColumns && { updateColumns: random.sample(namesOf(updateColumns), random.pick([0, 0, 1, 2])) }),
    };
  }

  /** The key of a row that nothing else in the request connects; mostly of one that is there. */
  #key(type: GraphQLInputObjectType, target: LoadedTable): Value | undefined {
    const { random, examples } = this.#maker;
    const row = this.#unusedRow(target);
    const fields = type.getFields();
    if (row && random.chance(0.25) && String(fields.nodeId?.type) === 'ID') {
      const nodeIds = examples.nodeIds(target.names.typeName);
      return { nodeId: nodeIds[target.rows!.indexOf(row)] };
    }
    const { primaryKey, uniqueKeys } = target.description;
    const columns = (key: readonly string[]) => key.map((name) => target.names.columns.find((column) => column.name === name));
    const keys = [primaryKey, primaryKey, ...uniqueKeys]
      .map(columns)
      .filter(
        (key) =>
          key.length > 0 && key.every((column) => column && fields[column.filterName] && row?.values.get(column.name)?.text !== null),
      );
    if (keys.length === 0 || !row || random.chance(0.05)) return this.#missing(fields, columns(primaryKey));
    const extra = random.chance(0.2)
      ? target.names.columns.filter(({ name, filterName }) => fields[filterName] && row.values.get(name)?.json != null)
      : [];
    return Object.fromEntries([...random.pick(keys), ...extra].map((column) => [column!.filterName, row.values.get(column!.name)!.json]));
  }

  /** A key that no row has. */
  #missing(fields: Readonly<Record<string, GraphQLInputField>>, key: readonly (Column | undefined)[]): Value | undefined {
    if (!key.every((column) => column && fields[column.filterName])) return undefined;
    const values = key.map((column) => [column!.filterName, this.#fresh(fields[column!.filterName]!.type)]);
    return key.length === 0 || values.some(([, value]) => value === undefined) ? undefined : Object.fromEntries(values);
  }

  #unusedRow({ rows }: LoadedTable): LoadedRow | undefined {
    const free = (rows ?? []).filter((row) => !this.#used.has(row));
    if (free.length === 0) return undefined;
    const row = this.#maker.random.pick(free);
    this.#used.add(row);
    return row;
  }

  /** Values of columns: of those that need one, and of a share of the others. */
  #columns(type: GraphQLInputObjectType, table: LoadedTable, taken: ReadonlySet<string>, share: number, isNew = true): Value {
    const { random } = this.#maker;
    const given: Value = {};
    for (const field of Object.values(type.getFields())) {
      const column = table.names.columns.find(({ fieldName }) => fieldName === field.name);
      if (!column || isOfRelation(field) || taken.has(column.name)) continue;
      const { notNull, defaultSql, identity } = columnOf(table.description, column.name);
      const isNeeded = isNew && notNull && defaultSql === null && !identity;
      if (isNeeded || random.chance(share)) given[field.name] = this.#value(field, table, column.name);
    }
    return given;
  }

  /** A reference leads to a row that is there; what is unique is new. */
  #value({ type, name: field }: GraphQLInputField, table: LoadedTable, name: string): unknown {
    const { random, values } = this.#maker;
    const { description, names } = table;
    const { notNull } = columnOf(description, name);
    const reference = names.relations.find((relation) => isOutgoing(table, relation) && relation.columns.some(({ near }) => near === name));
    if (!notNull && random.chance(reference ? 0.5 : 0.12)) return null;
    if (reference) {
      const column = reference.columns.find(({ near }) => near === name)!.target;
      const texts = (loadedTarget(this.#world, reference).rows ?? [])
        .map((row) => row.values.get(column)?.json)
        .filter((value) => value != null);
      if (texts.length > 0) return random.pick(texts);
    }
    const isKey = [description.primaryKey, ...description.uniqueKeys].some((key) => key.includes(name));
    const fresh = isKey ? this.#fresh(type) : undefined;
    return fresh ?? values.value(type, names.typeName, field) ?? null;
  }

  /** A value that is hardly there yet; undefined where the type has few. */
  #fresh(type: GraphQLInputType): unknown {
    const number = this.#maker.random.integer(100, 30_000);
    const digits = String(number).padStart(12, '0');
    switch (getNamedType(type).name) {
      case 'Int':
        return number;
      case 'BigInt':
      case 'BigFloat':
        return String(number);
      case 'String':
        return `k${number}`;
      case 'UUID':
        return `00000000-0000-0000-0000-${digits}`;
      case 'Date':
        return `${1000 + (number % 900)}-01-02`;
      case 'Datetime':
        return `${1000 + (number % 900)}-01-02T00:00:00+00:00`;
      default:
        return undefined;
    }
  }
}

/** Whether what is created can have a value for each column that is unique. */
function givesKeys(type: GraphQLInputObjectType, table: LoadedTable): boolean {
  const created = (getNamedType(type.getFields().create!.type) as GraphQLInputObjectType).getFields();
  return keyColumns(table).every((column) => column && created[column.fieldName]);
}

/** The columns that are unique, alone or with others; undefined for one that is none of the role's. */
function keyColumns({ description, names }: LoadedTable): (Column | undefined)[] {
  const keys = [description.primaryKey, ...description.uniqueKeys, ...description.uniqueIndexes.map(({ columns }) => columns)].flat();
  return keys.map((key) => names.columns.find(({ name }) => name === key));
}

/** The columns of a table that a relation of its rows fills. */
function filledColumns(table: LoadedTable, relation: Relation): readonly string[] {
  return isOutgoing(table, relation) ? relation.columns.map(({ near }) => near) : [];
}
