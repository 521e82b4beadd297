/** Locates the root fields of an operation in the text of its document. Documents are cached without locations, because only errors need them. */
import { type FragmentDefinitionNode, getLocation, Kind, type OperationDefinitionNode, parse, type SelectionSetNode } from 'graphql';
import type { SourcePosition } from '../errors.ts';

/** How many locations an error reports for one field. */
const maxPlaces = 10;

/** The locations of the fields with this response key at the root of a valid document; undefined if there are none. */
export function locateRootField(text: string, operationName: string | null | undefined, key: string): SourcePosition[] | undefined {
  const { definitions } = parse(text);
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  }
  const operation = definitions.find((definition): definition is OperationDefinitionNode => {
    return definition.kind === Kind.OPERATION_DEFINITION && (!operationName || definition.name?.value === operationName);
  });
  const places: SourcePosition[] = [];
  const visited = new Set<string>();
  const search = ({ selections }: SelectionSetNode): void => {
    for (const selection of selections) {
      if (places.length === maxPlaces) return;
      if (selection.kind === Kind.INLINE_FRAGMENT) search(selection.selectionSet);
      else if (selection.kind === Kind.FRAGMENT_SPREAD) {
        const fragment = visited.has(selection.name.value) ? undefined : fragments.get(selection.name.value);
        visited.add(selection.name.value);
        if (fragment) search(fragment.selectionSet);
      } else if ((selection.alias ?? selection.name).value === key && selection.loc) {
        const { line, column } = getLocation(selection.loc.source, selection.loc.start);
        places.push({ line, column });
      }
    }
  };
  if (operation) search(operation.selectionSet);
  return places.length > 0 ? places : undefined;
}
