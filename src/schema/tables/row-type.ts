/** The type of a table's rows: its columns, relations and computed fields. */
import {
  type GraphQLFieldConfig,
  type GraphQLFieldMap,
  GraphQLID,
  type GraphQLInterfaceType,
  GraphQLNonNull,
  GraphQLObjectType,
} from 'graphql';
import type { Column, Relation, Table } from '../../model/model.ts';
import type { SharedTypeName } from '../../model/naming/graphql-names.ts';
import { bindField } from '../bindings.ts';
import { buildEach, emptyRecord, type Field, lazyFields } from '../lazy/lazy-fields.ts';
import type { TypeRegistry } from '../lazy/type-registry.ts';
import { outputTypeOf } from '../value-types.ts';
import { collectionArguments } from './connection-types.ts';
import { hasField, routineFieldConfig } from './routine-fields.ts';

type FieldConfig = GraphQLFieldConfig<unknown, unknown>;

/** A function that builds each field, in field order. */
type Builders = ReadonlyMap<string, () => FieldConfig>;

/** A type with more fields builds them one by one, or other requests would have to wait. */
const manyFields = 200;

export class RowType extends GraphQLObjectType {
  readonly #table: Table;
  readonly #registry: TypeRegistry;
  #builders: Builders | null = null;
  #lazy: GraphQLFieldMap<unknown, unknown> | null = null;

  /** A table without other types has no key, and therefore no identifier. */
  constructor(table: Table, registry: TypeRegistry) {
    const { typeName: name, description } = table;
    const interfaces = hasIdentifier(registry, table) ? [registry.get('Node' satisfies SharedTypeName) as GraphQLInterfaceType] : [];
    super({ name, description, interfaces, fields: () => buildAll(this.#fieldBuilders) });
    this.#table = table;
    this.#registry = registry;
  }

  override getFields(): GraphQLFieldMap<unknown, unknown> {
    const builders = this.#fieldBuilders;
    if (builders.size <= manyFields) return super.getFields();
    this.#lazy ??= lazyFields(this.name, { names: () => builders.keys(), find: (name) => builders.get(name) });
    return this.#lazy;
  }

  /** Builds the fields one by one, without caching them; undefined if there are few. */
  buildEach(): Iterable<Field> | undefined {
    const builders = this.#fieldBuilders;
    if (builders.size <= manyFields) return undefined;
    return buildEach(this.name, { names: () => builders.keys(), find: (name) => builders.get(name) });
  }

  get #fieldBuilders(): Builders {
    this.#builders ??= buildersOf(this.#registry, this.#table);
    return this.#builders;
  }
}

function hasIdentifier(registry: TypeRegistry, table: Table): boolean {
  return registry.hasOf(table, 'Filter');
}

function buildAll(builders: Builders): Record<string, FieldConfig> {
  const fields = emptyRecord<FieldConfig>();
  for (const [name, build] of builders) fields[name] = build();
  return fields;
}

/** The model has made the names unique. Fields whose types are not in this schema are left out. */
function buildersOf(registry: TypeRegistry, table: Table): Builders {
  const builders = new Map<string, () => FieldConfig>();
  if (hasIdentifier(registry, table)) builders.set(registry.nodeIdField, () => nodeIdField());
  for (const column of table.columns) {
    const type = column.selectable ? outputTypeOf(column.type, registry) : undefined;
    if (type) builders.set(column.rowFieldName, () => columnField(column, column.notNull ? new GraphQLNonNull(type) : type));
  }
  for (const relation of table.relations) {
    if (registry.hasOf(relation.target, 'row')) builders.set(relation.fieldName, () => relationField(registry, relation));
  }
  for (const routine of table.computed) {
    if (hasField(registry, routine))
      builders.set(routine.fieldName, () => ({
        ...routineFieldConfig(registry, routine)!,
        ...bindField('row', { kind: 'computed', routine }),
      }));
  }
  return builders;
}

function nodeIdField(): FieldConfig {
  return {
    type: new GraphQLNonNull(GraphQLID),
    description: 'Globally Unique Record Identifier',
    ...bindField('row', { kind: 'node id' }),
  };
}

function columnField(column: Column, type: FieldConfig['type']): FieldConfig {
  return { type, description: column.description, ...bindField('row', { kind: 'column', column }) };
}

function relationField(registry: TypeRegistry, relation: Relation): FieldConfig {
  const { target } = relation;
  const binding = bindField('row', { kind: 'relation', relation });
  if (relation.kind === 'to-many') {
    return { type: registry.objectOf(target, 'Connection'), args: collectionArguments(registry, target), ...binding };
  }
  const type = registry.rowOf(target);
  return { type: relation.nullable ? type : new GraphQLNonNull(type), ...binding };
}
