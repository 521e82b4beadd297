/**
 * What columns of PostGIS share: the scalar GeoJSON, and the input of a distance.
 *
 *     input GeometryFilter { dWithin: GeoJSONDistance  within: GeoJSON … }
 *     input GeoJSONDistance { from: GeoJSON!  distance: Float! }
 */
import { GraphQLFloat, type GraphQLInputFieldConfigMap, GraphQLInputObjectType, GraphQLNonNull } from 'graphql';
import { bindInput } from '../bindings.ts';
import type { TypeRegistry } from '../lazy/type-registry.ts';
import { geoScalar } from '../value-types.ts';

export function defineGeometryTypes(registry: TypeRegistry): void {
  if (registry.geoTypes === null) return;
  const { scalar, near } = registry.geoTypes;
  registry.define(scalar, () => geoScalar(scalar));
  registry.define(near, () => nearInput(registry, near, scalar));
}

function nearInput(registry: TypeRegistry, name: string, scalar: string): GraphQLInputObjectType {
  return new GraphQLInputObjectType({
    name,
    description: 'What is at most so far from a geometry',
    fields: {
      from: { type: new GraphQLNonNull(registry.scalar(scalar)), ...bindInput('near', { kind: 'from' }) },
      distance: {
        type: new GraphQLNonNull(GraphQLFloat),
        description: 'In meters for geography; for geometry, in the unit of its coordinates',
        ...bindInput('near', { kind: 'distance' }),
      },
    },
  });
}

/** The member of a filter. */
export function nearField(type: GraphQLInputObjectType): GraphQLInputFieldConfigMap {
  return { dWithin: { type, description: 'Is within a distance', ...bindInput('geometry operators', { kind: 'near' }) } };
}
