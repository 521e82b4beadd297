/**
 * Random choices that a seed decides: the same seed gives the same choices on every machine (mulberry32).
 */
export class RandomSource {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
    // Seeds that follow each other would begin alike.
    this.#state = Math.imul(this.#next32() ^ 0x9e3779b9, 0x85ebca6b) >>> 0;
  }

  /** A whole number within both bounds. */
  integer(least: number, most: number): number {
    return least + Math.floor((this.#next32() / 2 ** 32) * (most - least + 1));
  }

  /** True with this probability. */
  chance(probability: number): boolean {
    return this.#next32() / 2 ** 32 < probability;
  }

  pick<Item>(items: readonly Item[]): Item {
    if (items.length === 0) throw new Error('There is nothing to pick from.');
    return items[this.integer(0, items.length - 1)]!;
  }

  shuffled<Item>(items: readonly Item[]): Item[] {
    const result = [...items];
    for (let index = result.length - 1; index > 0; index -= 1) {
      const other = this.integer(0, index);
      [result[index], result[other]] = [result[other]!, result[index]!];
    }
    return result;
  }

  /** Some of the items in random order: as many as there are, if there are fewer. */
  sample<Item>(items: readonly Item[], count: number): Item[] {
    return this.shuffled(items).slice(0, count);
  }

  /** Each of the items with this probability, in their order. */
  subset<Item>(items: readonly Item[], probability: number): Item[] {
    return items.filter(() => this.chance(probability));
  }

  #next32(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  }
}
