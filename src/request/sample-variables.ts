/**
 * Variables that a client may send, for preparing an operation before anybody sends it. In: the declarations of an operation; out: values of which only the
 * presence counts. Where the structure of a value decides the SQL (objects, cursors, directions), nobody can know it ahead.
 */
import { type GraphQLInputType, getNullableType, isEnumType, isLeafType, isListType, isNonNullType, isScalarType } from 'graphql';
import { isChoice, isCursor, isNodeId } from './type-roles.ts';
import type { VariableDeclaration } from './variable-declarations.ts';

export type SampleVariables = Readonly<Record<string, unknown>>;

/** The required variables alone, and all of them; fewer where they are the same, or where one has a value that cannot be known. */
export function sampleVariables(declarations: readonly VariableDeclaration[]): readonly SampleVariables[] {
  const required = declarations.filter(({ type, defaultValue }) => isNonNullType(type) && defaultValue === undefined);
  const samples = required.length === declarations.length ? [sampleOf(required)] : [sampleOf(required), sampleOf(declarations)];
  return samples.filter((sample) => sample !== null);
}

function sampleOf(declarations: readonly VariableDeclaration[]): SampleVariables | null {
  const entries = declarations.map(({ name, type }) => [name, sampleValue(type)] as const);
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
  if (!isScalarType(nullable)) return undefined;
  if (nullable.name === 'Boolean') return true;
  return nullable.name === 'Int' || nullable.name === 'Float' ? 1 : '1';
}
