/** Which values of variables have so many objects that reading them takes pauses. */

/** Objects that are read between two pauses. */
export const objectsAtATime = 100;

/** Whether there are more objects and lists in a value than are read between two pauses. */
export function hasManyObjects(value: object): boolean {
  return countObjects(value, objectsAtATime) < 0;
}

/** How many objects and lists there may still be after those in a value, and so how deep this goes. */
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

/** Whether a value is an object or a list. */
export function isObjectLike(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
