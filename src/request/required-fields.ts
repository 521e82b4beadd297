/** The required fields of an input type, found once per type, because an insert may have thousands of objects. */
import { type GraphQLInputObjectType, isRequiredInputField } from 'graphql';

const known = new WeakMap<GraphQLInputObjectType, readonly string[]>();

/** The names of the required fields. Most types have none. */
export function requiredFieldsOf(type: GraphQLInputObjectType): readonly string[] {
  let names = known.get(type);
  if (names === undefined) {
    names = Object.values(type.getFields()).flatMap((field) => (isRequiredInputField(field) ? [field.name] : []));
    known.set(type, names);
  }
  return names;
}
