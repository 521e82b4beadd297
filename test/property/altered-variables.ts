/** The variables of an operation with some of their values changed: another request of the same document, of the same variant or not. */
import type { RandomSource } from './random-source.ts';

/** Changes some values anywhere in the variables. What comes out need not fit the types any more. */
export function alterVariables(random: RandomSource, variables: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const altered: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(variables)) {
    if (!random.chance(0.1)) altered[name] = alterValue(random, value, 0.4);
  }
  return altered;
}

function alterValue(random: RandomSource, value: unknown, probability: number): unknown {
  if (Array.isArray(value))
    return random.chance(probability / 2) ? value.slice(1) : value.map((item) => alterValue(random, item, probability));
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, alterValue(random, item, probability)]));
  }
  if (!random.chance(probability)) return value;
  if (random.chance(0.2)) return null;
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'number') return Number.isInteger(value) ? random.integer(0, 12) : value / 2;
  // Texts may be names of enums, dates or identifiers.
  return value;
}
