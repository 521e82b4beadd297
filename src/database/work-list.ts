/**
 * Lists of work that passes through. They are arrays and not sets: V8 chains the tables that a `Set` or `Map` has outgrown, each with what was in it, so that
 * finished requests stay in memory until the old generation is collected (docs/decisions/hot-path.md).
 */

/** Removes an element, which is mostly near the head. Returns whether it was there. */
export function deleteFrom<Element>(list: Element[], element: Element): boolean {
  const index = list.indexOf(element);
  if (index === 0) list.shift();
  else if (index > 0) list.splice(index, 1);
  return index >= 0;
}
