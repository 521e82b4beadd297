/**
 * Makes up variables for an operation, so that it can be prepared before a client sends it. Only the presence of the values counts. They
 * cannot be made up if their structure determines the SQL (objects, cursors, directions).
 */
import { type GraphQLInputType, getNullableType, isEnumType, isLeafType, isListType, isNonNullType, isScalarType } from 'graphql';
import { scalarNamed } from '../model/types/scalars.ts';
import { isChoice, isCursor, isNodeId } from './type-roles.ts';
import type { VariableDeclaration } from './variable-declarations.ts';

export type SampleVariables = Readonly<Record<string, unknown>>;

/** Two samples: only the required variables, and all of them. Fewer if they are the same or a value cannot be made up. */
export function sampleVariables(declarations: readonly VariableDeclaration[]): readonly SampleVariables[] {
  const required = declarations.filter(({ type, defaultValue }) => isNonNullType(type) && defaultValue === undefined);
  const samples = required.length === declarations.length ? [sampleOf(required)] : [sampleOf(required), sampleOf(declarations)];
  return samples.filter((sample) => sample !== null);
}

function sampleOf(declarations: readonly VariableDeclaration[]): SampleVariables | null {
  const entries = declarations.map(({ sentName, type }) => [sentName, sampleValue(type)] as const);
  return entries.some(([, value]) => value === undefined) ? null : Object.fromEntries(entries);
}

function sampleValue(type: GraphQLInputType): unknown {
  const nullable = getNullableType(type);
  if (isListType(nullable)) {
    const item = sampleValue(nullable.ofType);
    return item === undefined ? undefined : [item];
  }
  if (!isLeafType(nullable) || isChoice(nullable) || isCursor(nullable) || isNodeId(nullable)) return undefined;
  if (isEnumType(nullable)) return nullable.getValues()[0]?.name;
  return isScalarType(nullable) ? scalarNamed(nullable.name)?.sample : undefined;
}
