/**
 * The input types of composite types, whose fields are their attributes:
 *
 *     input PlaceInput { street: String  city: String  spot: SpotInput  stops: [SpotInput]  open: Opaque  openBounds: TimeRangeInput }
 */
import { GraphQLInputObjectType } from 'graphql';
import type { Column, Table } from '../../model/model.ts';
import type { TypeRegistry } from '../lazy/type-registry.ts';
import { boundsInputs } from '../tables/range-types.ts';
import { asWhole, columnInputs, inputTypeOf } from '../value-types.ts';

/** Defines the inputs of those that are written somewhere and have an attribute that can be written. */
export function* defineCompositeInputs(registry: TypeRegistry, composites: readonly Table[]): Generator<void, void> {
  // In the order of the model, those inside others come first.
  for (const composite of composites) {
    const name = composite.composite?.inputName ?? null;
    const written = composite.columns.filter((column) => column.insertable && inputTypeOf(column.type, registry) !== undefined);
    if (name !== null && written.length > 0) registry.define(name, () => inputOf(registry, composite, name, written));
    yield;
  }
}

function inputOf(registry: TypeRegistry, composite: Table, name: string, columns: readonly Column[]): GraphQLInputObjectType {
  const { typeName, description } = composite;
  return new GraphQLInputObjectType({
    name,
    description: description ?? `A value of the composite type \`${typeName}\`. A member that is left out is null`,
    ...asWhole,
    fields: () => {
      const fields = columnInputs('composite', columns, 'fieldName', ({ type }) => inputTypeOf(type, registry));
      return { ...fields, ...boundsInputs(registry, composite, columns, fields, 'composite') };
    },
  });
}
