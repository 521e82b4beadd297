/**
 * The shapes of JSON columns that comment directives declare, as object types with typed fields. They are built as composite types are, but
 * their values are read from JSON (`compile/attributes.ts`).
 */
import type { CatalogColumn } from '../../catalog/catalog.ts';
import { type BuildContext, type Notes, privilegesOn } from '../build-context.ts';
import { readDirective } from '../directives.ts';
import { isJsonType, type ListShape, type ObjectShape, readShape, type Shape, shapeScalars, WrongShape } from '../json-shapes.ts';
import type { Column, ColumnShape } from '../model.ts';
import type { ClaimedNames } from '../naming/claimed-names.ts';
import { columnFieldName, legalName, numbered, qualifiedName, typeNameOf } from '../naming/names.ts';
import type { EnumValueType, ScalarType, ValueType } from '../value-type.ts';
import { type CompositeUse, claimParts } from './build-composites.ts';
import { LazyTable, type TableBuilder } from './lazy-table.ts';
import { isInsertable, isUpdatable, trigramsOf, valueTypeOf } from './value-types.ts';

/** Finds the shapes of columns that the role may select, in tables and composite types with the addition. */
export function* addShapes(context: BuildContext, uses: ReadonlyMap<number, CompositeUse>): Generator<void, void> {
  if (!context.settings.additions.has('json')) return;
  for (const owner of [...context.tables.values(), ...context.composites.values()]) {
    const { catalogTable, additions } = owner.traits;
    if (!additions.has('json')) continue;
    for (const column of catalogTable.columns) {
      if (!column.comment?.includes('"shape"') || !isJsonType(context.catalog, column.typeId)) continue;
      const { shape: declared } = readDirective(column.comment);
      const { select, insert, update } = privilegesOn(context, catalogTable, column);
      if (declared === undefined || declared === null || !select) continue;
      const shape = readShape(declared, context.catalog);
      const isWritable = (insert && isInsertable(context, column, additions)) || (update && isUpdatable(context, column, additions));
      const isWritten = uses.get(owner.id)?.isWritten ?? isWritable;
      if (!(shape instanceof WrongShape)) addShape(context, owner, column, shape, isWritten);
    }
    yield;
  }
}

function addShape(
  context: BuildContext,
  owner: LazyTable,
  column: CatalogColumn,
  shape: ObjectShape | ListShape,
  isWritten: boolean,
): void {
  const made = new ShapeMaker(context, owner, isWritten).columnShape(shape, `${owner.name}_${column.name}`, false);
  if (made === null) return;
  const ofOwner = context.shapes.get(owner.id) ?? new Map<number, ColumnShape>();
  context.shapes.set(owner.id, ofOwner.set(column.number, made));
}

class ShapeMaker {
  readonly #context: BuildContext;
  readonly #owner: LazyTable;
  readonly #isWritten: boolean;

  constructor(context: BuildContext, owner: LazyTable, isWritten: boolean) {
    this.#context = context;
    this.#owner = owner;
    this.#isWritten = isWritten;
  }

  /** The shape of a value that is an object or a list of objects; null for another. `place` names its type. */
  columnShape(shape: Shape, place: string, isInList: boolean): ColumnShape | null {
    const isList = shape.kind === 'list';
    const object = isList ? shape.element : shape;
    if (object.kind !== 'object') return null;
    const table = this.#tableOf(object, place, isInList || isList);
    const use = { isShown: true, isRead: true, hasValues: false, isWritten: this.#isWritten, isFiltered: true };
    this.#context.shapeTables.set(table, { ...use, isListFiltered: isList, isOrdered: !isInList && !isList });
    return { table, isList };
  }

  #tableOf({ title, description, members }: ObjectShape, place: string, isInList: boolean): LazyTable {
    const { traits } = this.#owner;
    const inner = new Map(members.map(({ name, shape }) => [name, this.columnShape(shape, `${place}_${name}`, isInList)]));
    let columns: readonly Column[] | null = null;
    const builder: TableBuilder = {
      buildParts: () => {
        columns ??= this.#columnsOf(members, inner);
        return { columns, primaryKey: [], uniqueKeys: [], search: null, arbiters: [], relations: [], lineages: [], computed: [] };
      },
      findReferrers: () => [],
      hasLookup: () => false,
    };
    const name = title ?? legalName(place, (own) => typeNameOf(own, traits.schema.inflection));
    const none = { insertable: false, updatable: false, deletable: false, totalCount: false, aggregate: false } as const;
    return new LazyTable(
      {
        ...traits,
        ...none,
        catalogTable: { ...traits.catalogTable, id: 0, name: place, columns: [], indexes: [], arbiters: [] },
        plainName: { name, origin: title === null ? 'own' : 'directive' },
        kind: 'composite type',
        description,
        keepsNotNull: false,
        keyIsUnique: false,
        keyIsProven: false,
        selectable: true,
        isSearchable: false,
        searched: null,
        liveRefresh: null,
        key: null,
      },
      builder,
    );
  }

  #columnsOf(members: ObjectShape['members'], inner: ReadonlyMap<string, ColumnShape | null>): readonly Column[] {
    const { inflection } = this.#owner.traits.schema;
    const taken = new Set<string>();
    return members.map(({ name, description, shape }): Column => {
      const plain = legalName(name, (own) => columnFieldName(own, inflection));
      const fieldName = taken.has(plain) ? numbered(`${plain}Member`, (other) => !taken.has(other)) : plain;
      taken.add(fieldName);
      const ofMember = inner.get(name) ?? null;
      const type = this.#typeOf(ofMember ? { kind: 'value', of: 'json' } : shape);
      return {
        name,
        ...{ fieldName, rowFieldName: fieldName, filterName: fieldName },
        description,
        type,
        ...{ notNull: false, refusesNull: false, leadsIndex: false, indexMovesNulls: false, measured: null },
        ...{ comparable: true, selectable: true, insertable: true, required: false, updatable: false, nullByDefault: false },
        orderable: type.kind === 'enum' || (type.kind === 'scalar' && type.traits.orders),
        shape: ofMember,
      };
    });
  }

  #typeOf(shape: Shape): ValueType {
    if (shape.kind !== 'list') return this.#scalarOf(shape);
    const element = this.#scalarOf(shape.element);
    return { kind: 'list', element, sqlType: `${element.sqlType}[]` };
  }

  #scalarOf(shape: Shape): ScalarType | EnumValueType {
    if (shape.kind === 'value' && typeof shape.of === 'number') {
      const type = valueTypeOf(this.#context, shape.of);
      return type.kind === 'enum' ? type : shapeScalars.string;
    }
    const of = shape.kind === 'value' && typeof shape.of === 'string' ? shape.of : 'json';
    const trigrams = trigramsOf(this.#context);
    return {
      ...shapeScalars[of],
      ...(of === 'json' && this.#context.settings.json === 'object' && { isBareJson: true }),
      ...(of === 'string' && trigrams !== null && { trigrams }),
    };
  }
}

/** Names their types, after all others. */
export function claimShapes({ shapeTables }: BuildContext, names: ClaimedNames, { renamings }: Notes): void {
  for (const [table, use] of shapeTables) {
    const { schema } = table.traits;
    const plain = table.typeName;
    table.typeName = names.claimRows({ name: plain, schema: schema.name, inflection: schema.inflection });
    table.composite = { ...claimParts(table, use, names), attributes: null };
    if (table.typeName === plain) continue;
    const reason = `the name "${plain}" is already taken, so it is called "${table.typeName}"; choose another with "title" in the shape`;
    renamings.push({ object: 'column', id: 0, name: qualifiedName(schema.name, table.name), reason });
  }
}
