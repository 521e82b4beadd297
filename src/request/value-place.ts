/** Where in the value of an argument or a variable an error stands: recorded as the error passes through the fields and lists around it. */

/** Names of fields and indexes that lead to a part of a value. */
export type ValuePlace = readonly (string | number)[];

const places = new WeakMap<object, (string | number)[]>();

/** The same error, which stands in this field or element of the value around it. */
export function errorWithin(error: unknown, key: string | number): unknown {
  if (!(error instanceof Error)) return error;
  const place = places.get(error);
  if (place) place.unshift(key);
  else places.set(error, [key]);
  return error;
}

/** What the error has passed through. */
export function placeOf(error: unknown): ValuePlace {
  return (error instanceof Error ? places.get(error) : undefined) ?? [];
}

/** The place as clients are told: `objects[2].comments.create[0].body`. */
export function writePlace([first, ...rest]: ValuePlace): string {
  return `${first}${rest.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`)).join('')}`;
}
