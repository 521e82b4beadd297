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

/** Defines the inputs of those that are written somewhere and have an attribute that can be written. */
export function* defineCompositeInputs(registry: TypeRegistry, composites: readonly Table[]): Generator<void, void> {
  // In the order of the model, those inside others come first.
  for (const composite of composites) {
    const name = composite.composite?.inputName ?? null;
    const written = composite.columns.filter((column) => column.insertable && memberTypeOf(composite, column, registry) !== undefined);
    if (name !== null && written.length > 0) registry.define(name, () => inputOf(registry, composite, name, written));
    yield;
  }
}

function inputOf(registry: TypeRegistry, composite: Table, name: string, columns: readonly Column[]): GraphQLInputObjectType {
  const { typeName, description } = composite;
  const kind = isShape(composite) ? 'JSON of the shape' : 'A value of the composite type';
  const leftOut = isShape(composite) ? 'not in it' : 'null';
  return new GraphQLInputObjectType({
    name,
    description: description ?? `${kind} \`${typeName}\`. A member that is left out is ${leftOut}`,
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
