/** Sorts hundreds of thousands of names, which takes longer than requests should wait, in small steps. */

/** The number of names to sort or merge before yielding. */
const stepLength = 1000;

/** Sorts the names by code units, like `sort()`. */
export function* sortNames(names: Iterable<string>): Generator<void, readonly string[]> {
  let runs: (readonly string[])[] = [];
  let run: string[] = [];
  for (const name of names) {
    if (run.push(name) < stepLength) continue;
    runs.push(run.sort());
    run = [];
    yield;
  }
  runs.push(run.sort());
  while (runs.length > 1) {
    const merged: (readonly string[])[] = [];
    for (let index = 0; index < runs.length; index += 2) merged.push(yield* merge(runs[index]!, runs[index + 1] ?? []));
    runs = merged;
  }
  return runs[0]!;
}

function* merge(one: readonly string[], other: readonly string[]): Generator<void, readonly string[]> {
  const merged: string[] = [];
  let [place, otherPlace] = [0, 0];
  while (place < one.length && otherPlace < other.length) {
    merged.push(one[place]! <= other[otherPlace]! ? one[place++]! : other[otherPlace++]!);
    if (merged.length % stepLength === 0) yield;
  }
  // Appends the rest of the longer run.
  while (place < one.length) merged.push(one[place++]!);
  while (otherPlace < other.length) merged.push(other[otherPlace++]!);
  return merged;
}
