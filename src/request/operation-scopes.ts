/** Which definitions an operation reaches through fragments, with the variables that it declares for them. The document need not be valid. */
import { type DefinitionNode, Kind, type OperationDefinitionNode, type VariableDefinitionNode } from 'graphql';
import type { VariableUse, VariableUses } from './adapt-values.ts';

export interface Definition {
  readonly node: DefinitionNode;
  readonly uses: VariableUses;
  /** The names of the fragments that it spreads. */
  readonly spreads: Set<string>;
}

/** An operation with everything that it reaches. */
export interface Scope {
  readonly node: OperationDefinitionNode;
  /** By name; empty if two variables have one name, which is invalid. */
  readonly variables: ReadonlyMap<string, VariableDefinitionNode>;
  readonly reached: readonly Definition[];
}

/** The operations, each with the definitions that it reaches through fragments. */
export function scopesOf(definitions: readonly Definition[]): Scope[] {
  const fragments = new Map<string, Definition>();
  for (const definition of definitions)
    if (definition.node.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.node.name.value, definition);
  return definitions.flatMap((definition) => {
    const { node } = definition;
    if (node.kind !== Kind.OPERATION_DEFINITION) return [];
    const reached = new Set([definition]);
    // A set visits what is added to it meanwhile.
    for (const { spreads } of reached) {
      for (const name of spreads) {
        const fragment = fragments.get(name);
        if (fragment) reached.add(fragment);
      }
    }
    const declared = node.variableDefinitions ?? [];
    const variables = new Map(declared.map((each) => [each.variable.name.value, each]));
    return [{ node, variables: variables.size === declared.length ? variables : new Map(), reached: [...reached] }];
  });
}

/** The uses of variables in some definitions. */
export function usesIn(definitions: readonly Definition[]): VariableUse[] {
  return definitions.flatMap(({ uses }) => [...uses.values()]);
}
