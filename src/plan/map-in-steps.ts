/** Long lists of an input, such as the rows of an insert, are planned with pauses (`budget/slices.ts`). */

/** Items between two pauses. */
const itemsAtATime = 500;

/** The results of the work for each item. */
export function* mapInSteps<Item, Result>(items: readonly Item[], work: (item: Item) => Result): Generator<void, Result[]> {
  const results: Result[] = [];
  for (const item of items) {
    results.push(work(item));
    if (results.length % itemsAtATime === 0) yield;
  }
  return results;
}
