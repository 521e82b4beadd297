/**
 * The input types of composite types and of the shapes of JSON, whose fields are their attributes or members:
 *
 *     input PlaceInput { street: String  city: String  spot: SpotInput  stops: [SpotInput]  open: Opaque  openBounds: TimeRangeInput }
 */
import { GraphQLInputObjectType, type GraphQLNullableInputType } from 'graphql';
import type { Column, Table } from '../../model/model.ts';
import type { TypeRegistry } from '../lazy/type-registry.ts';
import { asWhole, columnInputs, inputTypeOf } from '../value-types.ts';
import { besideInputs, shapeInput } from './beside-inputs.ts';

/** Defines the inputs of those that are written somewhere and have a member that can be written. */
export function* defineCompositeInputs(registry: TypeRegistry, composites: readonly Table[]): Generator<void, void> {
  const seen = new Set<Table>();
  // Those inside others come first, because an input without fields is none.
  const define = (composite: Table): void => {
    const name = composite.composite?.inputName ?? null;
    if (name === null || seen.has(composite)) return;
    seen.add(composite);
    const members = membersOf(composite);
    for (const { type, shape } of members) {
      const inner = shape?.table ?? (type.kind === 'row' || type.kind === 'row list' ? type.table : null);
      if (inner) define(inner);
    }
    const written = members.filter((column) => memberTypeOf(composite, column, registry) !== undefined);
    if (written.length > 0) registry.define(name, () => inputOf(registry, composite, name, written));
  };
  for (const composite of composites) {
    define(composite);
    yield;
  }
}

/** The members of a value. A row that is written has all columns that the role may read or insert. */
function membersOf({ kind, columns }: Table): readonly Column[] {
  if (kind === 'composite type') return columns.filter(({ insertable }) => insertable);
  return columns.filter(({ name, selectable, insertable }, index) => {
    return (selectable || insertable) && columns.findIndex((each) => each.name === name) === index;
  });
}

function inputOf(registry: TypeRegistry, composite: Table, name: string, columns: readonly Column[]): GraphQLInputObjectType {
  const { typeName, description } = composite;
  const isRow = composite.kind !== 'composite type';
  const kind = isShape(composite) ? 'JSON of the shape' : isRow ? 'A value that is a row of' : 'A value of the composite type';
  const leftOut = isShape(composite) ? 'not in it' : 'null';
  return new GraphQLInputObjectType({
    name,
    description: (isRow ? null : description) ?? `${kind} \`${typeName}\`. A member that is left out is ${leftOut}`,
    ...asWhole,
    fields: () => {
      const fields = columnInputs('composite', columns, 'fieldName', (column) => memberTypeOf(composite, column, registry));
      return isShape(composite) ? fields : { ...fields, ...besideInputs(registry, composite, columns, fields, 'composite') };
    },
  });
}

/** Whether it is the shape of JSON, and no composite type. */
function isShape({ composite }: Table): boolean {
  return composite?.attributes === null;
}

/** Objects inside a shape are objects; those of a composite type are JSON, with a field for the shape beside it. */
function memberTypeOf(composite: Table, { type, shape }: Column, registry: TypeRegistry): GraphQLNullableInputType | undefined {
  return isShape(composite) && shape ? shapeInput(shape, registry) : inputTypeOf(type, registry);
}
