/**
 * Lists of work, from which each element is soon removed again. They are arrays, not sets: when a `Set` or `Map` outgrows its table, V8
 * links the old table, with everything that was in it, to the new one, so finished requests would stay in memory until the old generation
 * is collected (docs/decisions/hot-path.md).
 */

/** Removes an element, usually near the head. Returns whether it was there. */
export function deleteFrom<Element>(list: Element[], element: Element): boolean {
  const index = list.indexOf(element);
  if (index === 0) list.shift();
  else if (index > 0) list.splice(index, 1);
  return index >= 0;
}

/** The same for a list whose order does not matter. */
export function dropFrom<Element>(list: Element[], element: Element): boolean {
  const index = list.indexOf(element);
  if (index < 0) return false;
  const last = list.pop()!;
  if (index < list.length) list[index] = last;
  return true;
}
