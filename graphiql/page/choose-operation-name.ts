/**
 * Chooses the operation to run. GraphiQL updates its own choice some time after the editor has changed, so that it may belong to the
 * previous document.
 */
import { Kind, OperationTypeNode, parse } from 'graphql';

/** Undefined if the document is invalid or does not determine the operation: the server then reports what is wrong. */
export function chooseOperationName(query: string, name: string | null | undefined): string | undefined {
  const names = readNames(query);
  return names.find((each) => each === name) ?? (names.length === 1 ? names[0] : undefined);
}

/** The names of its operations; undefined for one without a name. */
function readNames(query: string): readonly (string | undefined)[] {
  try {
    return parse(query).definitions.flatMap((definition) =>
      definition.kind === Kind.OPERATION_DEFINITION ? [definition.name?.value] : [],
    );
  } catch {
    return [];
  }
}

/** Whether the operation that runs is a subscription: the one of this name, or the only one. */
export function isSubscription(query: string, name: string | undefined): boolean {
  try {
    return parse(query).definitions.some(
      (each) => each.kind === Kind.OPERATION_DEFINITION && each.operation === OperationTypeNode.SUBSCRIPTION && each.name?.value === name,
    );
  } catch {
    return false;
  }
}
