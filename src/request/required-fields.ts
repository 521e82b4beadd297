/** The fields that an input object must have, found once for each type: the objects of an insert come in thousands. */
import { type GraphQLInputObjectType, isRequiredInputField } from 'graphql';

const known = new WeakMap<GraphQLInputObjectType, readonly string[]>();

/** Their names; none for most types. */
export function requiredFieldsOf(type: GraphQLInputObjectType): readonly string[] {
  let names = known.get(type);
  if (names === undefined) {
    names = Object.values(type.getFields()).flatMap((field) => (isRequiredInputField(field) ? [field.name] : []));
    known.set(type, names);
  }
  return names;
}
