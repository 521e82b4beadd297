/** Plans long lists of inputs, such as the rows of an insert, in steps (`budget/turns.ts`). */

/** The number of items to process before yielding. */
const itemsAtATime = 500;

/** Maps the items, yielding in between. */
export function* mapInSteps<Item, Result>(items: readonly Item[], work: (item: Item) => Result): Generator<void, Result[]> {
  const results: Result[] = [];
  for (const item of items) {
    results.push(work(item));
    if (results.length % itemsAtATime === 0) yield;
  }
  return results;
}
