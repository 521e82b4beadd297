/** Records where in the value of an argument or variable an error occurred, as the error passes through the enclosing fields and lists. */

/** The path to a part of a value: field names and list indexes. */
export type ValuePlace = readonly (string | number)[];

const places = new WeakMap<object, (string | number)[]>();

/** Returns the same error with `key` prepended to its place. */
export function errorWithin(error: unknown, key: string | number): unknown {
  if (!(error instanceof Error)) return error;
  const place = places.get(error);
  if (place) place.unshift(key);
  else places.set(error, [key]);
  return error;
}

/** The place of the error in the value. */
export function placeOf(error: unknown): ValuePlace {
  return (error instanceof Error ? places.get(error) : undefined) ?? [];
}

/** The place in error details: `objects[2].comments.create[0].body`. */
export function writePlace([first, ...rest]: ValuePlace): string {
  return `${first}${rest.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`)).join('')}`;
}
