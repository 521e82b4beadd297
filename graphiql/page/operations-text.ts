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

/** The text with an operation in the place of `before`, or at the end if that is null; without `before` if `changed` is null. */
export function writeOperation(
  text: string,
  { operations }: OperationsText,
  before: OperationDefinitionNode | null,
  changed: OperationDefinitionNode | null,
): string {
  if (changed === null) return before?.loc === undefined ? text : withoutPart(text, before.loc.start, before.loc.end);
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

/** Whether it has only what stands for no fields. */
export function isEmptyOperation({ selectionSet }: OperationDefinitionNode): boolean {
  const [only, ...others] = selectionSet.selections;
  return others.length === 0 && only?.kind === Kind.FIELD && only.name.value === '__typename' && only.alias === undefined;
}

/** With one empty line where the part was. */
function withoutPart(text: string, start: number, end: number): string {
  const [before, after] = [text.slice(0, start).trimEnd(), text.slice(end).trim()];
  const parts = [before, after].filter((part) => part !== '');
  return parts.length === 0 ? '' : `${parts.join('\n\n')}\n`;
}

/** A text of only comments and commas is not a document. */
function isEmpty(text: string): boolean {
  return text.replaceAll(/#.*/g, '').replaceAll(/[\s,\ufeff]/g, '') === '';
}
