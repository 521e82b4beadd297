/** The field that identifies a row, whatever the setting `nodeIdField` calls it: the only field of the type ID of a type that is a Node. */
import { type GraphQLObjectType, getNamedType } from 'graphql';

export function idFieldOf(type: GraphQLObjectType): string | null {
  const node = type
    .getInterfaces()
    .find((each) => Object.values(each.getFields()).some(({ type: output }) => getNamedType(output).name === 'ID'));
  const field = Object.values(node?.getFields() ?? {}).find(({ type: output }) => getNamedType(output).name === 'ID');
  return field?.name ?? null;
}
