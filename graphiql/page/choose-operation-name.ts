/**
 * The name of the operation to run. GraphiQL notes it some time after the editor has changed, so that it may be one of the document before. In: a document and
 * that name; out: a name that the document has.
 */
import { Kind, parse } from 'graphql';

/** Undefined where the document does not say which operation is meant, or is none: the server then says what is wrong. */
export function chooseOperationName(query: string, name: string | null | undefined): string | undefined {
  const names = readNames(query);
  return names.find((each) => each === name) ?? (names.length === 1 ? names[0] : undefined);
}

/** Of its operations; undefined for one without a name. */
function readNames(query: string): readonly (string | undefined)[] {
  try {
    return parse(query).definitions.flatMap((definition) =>
      definition.kind === Kind.OPERATION_DEFINITION ? [definition.name?.value] : [],
    );
  } catch {
    return [];
  }
}
