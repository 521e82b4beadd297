/** Values that the database holds, for operations that find something: of fields, nodeIds and cursors. */

import { tableTypeName } from '../../src/model/naming/graphql-names.ts';
import { distinctKeys } from './evaluate-distinct.ts';
import { cursorOf } from './evaluate-page.ts';
import { hasComparedTexts } from './evaluate-search.ts';
import { type LoadedRow, nodeIdOf, partOfColumn, tableOfType, type World } from './loaded-tables.ts';
import { type LoadedValue, memberOf, namesOf } from './loaded-values.ts';
import { plainOrderKeys } from './order-keys.ts';
import { RefusalError } from './property-failure.ts';
import { columnOf } from './schema-description.ts';

export class Examples {
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  /** Values of a field of a type, without null; of a member of composites, by a path of fields: `address.city`. */
  ofField(typeName: string, fieldName: string): readonly unknown[] {
    const table = this.#table(typeName);
    const [field, ...path] = fieldName.split('.');
    const column = table?.names.columns.find((each) => [each.fieldName, each.filterName].includes(field!));
    if (!table || !column || path.length === 0) return this.#values(typeName, column?.name);
    const part = partOfColumn(table, column);
    let { type } = part;
    let values = this.#rows(typeName).flatMap((row) => part.in(row.values) ?? []);
    for (const name of path) {
      const named = namesOf(table.world, type);
      const kind = (['fieldName', 'filterName'] as const).find((each) => named.names.some((column) => column[each] === name));
      // An object of a shape has a field of its own in inputs.
      if (!kind) return [];
      const member = memberOf(table.world, named, kind, name);
      values = values.flatMap((value) => value.items ?? [value]).flatMap((value) => member.in(value.members) ?? []);
      ({ type } = member);
    }
    return values.flatMap(inputOf);
  }

  /** Whether an input type is the filter of values of a composite type. */
  isOfComposite(filterName: string): boolean {
    return [...this.#world.composites.values()].some(({ composite }) => composite?.filterName === filterName);
  }

  /** Values of a key column, which need not be a field. */
  ofKey(typeName: string, argumentName: string): readonly unknown[] {
    return this.#values(typeName, this.#table(typeName)?.names.primaryKey.find((each) => each.fieldName === argumentName)?.name);
  }

  /** The row type that a filter of related rows is about; undefined for other types. */
  relatedType(filterName: string): string | undefined {
    return this.#world.tables.find(({ names }) =>
      [tableTypeName(names, 'FilterToOne'), tableTypeName(names, 'FilterToMany')].includes(filterName),
    )?.names.typeName;
  }

  /** Whether a member of a filter or an order is a column that PostgreSQL has no comparison of; what uses it may not be read at all. */
  isIncomparable(inputName: string, fieldName: string): boolean {
    const table = this.#table(this.relatedType(inputName) ?? inputName);
    const column = table?.names.columns.find((each) => [each.fieldName, each.filterName].includes(fieldName));
    return column !== undefined && columnOf(table!.description, column.name).type.sql === 'point';
  }

  /** Whether the rows of a type have texts that a search compares by their trigrams. */
  hasComparedTexts(typeName: string): boolean {
    const table = this.#table(typeName);
    return table !== undefined && hasComparedTexts(table);
  }

  /** Whether a type is the filter of a table. */
  isFilter(typeName: string): boolean {
    return this.#world.tables.some(({ names }) => tableTypeName(names, 'Filter') === typeName);
  }

  /** Whether a field is a column, not a relation. */
  isColumn(typeName: string, fieldName: string): boolean {
    return this.#table(typeName)?.names.columns.some((column) => column.rowFieldName === fieldName && column.selectable) ?? false;
  }

  /** The nodeIds of a type, or of all. */
  nodeIds(typeName?: string): readonly string[] {
    const names = typeName === undefined ? this.#world.tables.map(({ names: each }) => each.typeName) : [typeName];
    return readable(() => names.flatMap((name) => this.#rows(name).map(nodeIdOf)));
  }

  /** The type that a nodeId is of. */
  typeOfNode(nodeId: string): string | undefined {
    return this.#world.tables.find(({ names }) => this.nodeIds(names.typeName).includes(nodeId))?.names.typeName;
  }

  /** The cursors of the rows of a type in an order, where they are known without PostgreSQL. */
  cursors(typeName: string, orderBy: unknown, distinctOn: readonly string[] = []): readonly string[] {
    const table = this.#table(typeName);
    return readable(() => {
      const order = table?.rows ? plainOrderKeys(table, orderBy) : null;
      const keys = order && distinctOn.length > 0 ? distinctKeys(table!, order, distinctOn) : order;
      return keys ? this.#rows(typeName).map((row) => cursorOf(row, keys)) : [];
    });
  }

  #values(typeName: string, column: string | undefined): readonly unknown[] {
    if (column === undefined) return [];
    return this.#rows(typeName).flatMap((row) => inputOf(row.values.get(column)));
  }

  #rows(typeName: string): readonly LoadedRow[] {
    return this.#table(typeName)?.rows ?? [];
  }

  #table(typeName: string) {
    return tableOfType(this.#world, typeName);
  }
}

/** What an input takes for a value, or for the elements of an array; nothing for null and arrays of objects. */
function inputOf(value: LoadedValue | undefined): readonly unknown[] {
  const { text = null, json = null } = value ?? {};
  if (Array.isArray(json)) return json.some((item) => typeof item === 'object' && item !== null) ? [] : json;
  return json === null ? [] : [typeof json === 'object' ? text : json];
}

/** Nothing where the role may not read the key. */
function readable<Item>(read: () => readonly Item[]): readonly Item[] {
  try {
    return read();
  } catch (error) {
    if (error instanceof RefusalError) return [];
    throw error;
  }
}
