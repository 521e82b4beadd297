/**
 * Reads the operations in the text of an editor, and replaces one of them. Everything else in the text, including comments, is left
 * unchanged.
 */
import { type DocumentNode, Kind, type OperationDefinitionNode, type OperationTypeNode, parse, print } from 'graphql';
import { fieldOf, selectionSetOf } from './edit-operation.ts';

export interface OperationsText {
  readonly operations: readonly OperationDefinitionNode[];
}

/** The operations; none for an empty text, and an error for an invalid document. */
export function readOperations(text: string): OperationsText | { readonly error: string } {
  if (isEmpty(text)) return { operations: [] };
  try {
    const { definitions }: DocumentNode = parse(text);
    return { operations: definitions.filter((definition) => definition.kind === Kind.OPERATION_DEFINITION) };
  } catch (error) {
    return { error: (error as Error).message };
  }
}

/** The text with an operation in the place of `before`, or at the end if that is null. */
export function writeOperation(
  text: string,
  { operations }: OperationsText,
  before: OperationDefinitionNode | null,
  changed: OperationDefinitionNode,
): string {
  const written = print(changed);
  if (operations.length === 0) return `${text.trim() === '' ? '' : `${text.trimEnd()}\n`}${written}\n`;
  if (before?.loc === undefined) return `${text.trimEnd()}\n\n${written}\n`;
  return `${text.slice(0, before.loc.start)}${written}${text.slice(before.loc.end)}`;
}

/** An operation without fields. */
export function emptyOperation(kind: OperationTypeNode, name = kind === 'mutation' ? 'MyMutation' : 'MyQuery'): OperationDefinitionNode {
  return {
    kind: Kind.OPERATION_DEFINITION,
    operation: kind,
    name: { kind: Kind.NAME, value: name },
    selectionSet: selectionSetOf([fieldOf('__typename')]),
  };
}

/** A text of only comments and commas is not a document. */
function isEmpty(text: string): boolean {
  return text.replaceAll(/#.*/g, '').replaceAll(/[\s,\ufeff]/g, '') === '';
}
