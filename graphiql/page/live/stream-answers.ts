/** Streams, whose answers are the rows that come next: the page shows them together. */
import { Kind, type OperationDefinitionNode, parse, type SelectionSetNode } from 'graphql';

/** The rows that are shown at most: the last ones. */
const mostRows = 1000;
/** What can be selected of the rows of a stream, and what tells it from a function that returns a list. */
const ofEdges: ReadonlySet<string> = new Set(['cursor', 'node', 'distance', '__typename']);

/** The key of the stream that is the only field of the subscription; null if it is none, or cannot be told. */
export function streamKeyOf(query: string, operationName: string | null | undefined): string | null {
  const operations = parseOperations(query);
  const operation = operations.find(({ name }) => name?.value === operationName) ?? operations[0];
  const [field, ...others] = operation?.selectionSet.selections ?? [];
  if (field?.kind !== Kind.FIELD || others.length > 0 || !field.name.value.endsWith('Stream')) return null;
  return isOfEdges(field.selectionSet) ? (field.alias ?? field.name).value : null;
}

function parseOperations(query: string): readonly OperationDefinitionNode[] {
  try {
    return parse(query).definitions.filter((each) => each.kind === Kind.OPERATION_DEFINITION);
  } catch {
    return [];
  }
}

function isOfEdges(selectionSet: SelectionSetNode | undefined): boolean {
  return selectionSet?.selections.every((each) => each.kind === Kind.FIELD && ofEdges.has(each.name.value)) ?? false;
}

/** The answer with the rows before it. One with errors stands for itself. */
export function joinRows(before: object | null, answer: object, key: string): object {
  const [earlier, rows] = [rowsOf(before, key), rowsOf(answer, key)];
  return earlier === null || rows === null ? answer : { ...answer, data: { [key]: [...earlier, ...rows].slice(-mostRows) } };
}

function rowsOf(answer: object | null, key: string): readonly unknown[] | null {
  const data: unknown = (answer as { readonly data?: unknown } | null)?.data;
  const rows: unknown = (data as Readonly<Record<string, unknown>> | null | undefined)?.[key];
  return Array.isArray(rows) ? rows : null;
}
