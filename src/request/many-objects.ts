/** Decides which variables have so many objects that coercing them should yield. */

/** The number of objects to coerce before yielding. */
export const objectsAtATime = 100;

/** Whether a value contains more objects and lists than that, at any depth. */
export function hasManyObjects(value: object): boolean {
  return countObjects(value, objectsAtATime) < 0;
}

/** How many of `left` objects and lists remain after those in the value; negative if there are more. This also limits the recursion. */
function countObjects(value: object, left: number): number {
  let rest = left - 1;
  if (Array.isArray(value)) {
    if (value.length > left && isObjectLike(value[0])) return -1;
    for (const item of value) if (rest >= 0 && isObjectLike(item)) rest = countObjects(item, rest);
    return rest;
  }
  for (const key in value) {
    const item = (value as Record<string, unknown>)[key];
    if (rest >= 0 && isObjectLike(item)) rest = countObjects(item, rest);
  }
  return rest;
}

export function isObjectLike(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
