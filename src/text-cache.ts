/**
 * An LRU cache whose keys are long texts that come again and again, such as documents: finding one costs a comparison with the latest text of its length, and
 * no hash of it. In: texts with their values; out: the values, as long as there is room.
 */
import { LRUCache } from 'lru-cache';

/** How many hits count as one use: a text that comes that often stays, and noting each hit would need the hash. */
const hitsOfUse = 64;

interface Recent<Value> {
  readonly text: string;
  readonly value: Value;
  hits: number;
}

export class TextCache<Value extends object> {
  readonly #all: LRUCache<string, Value>;
  /** By length. Only what is in the cache. */
  readonly #recent = new Map<number, Recent<Value>>();

  /** Keeps this many values, under texts of this many characters in total. */
  constructor(most: number, mostCharacters: number) {
    this.#all = new LRUCache({
      max: most,
      maxSize: mostCharacters,
      sizeCalculation: (_value, text) => text.length + 1,
      dispose: (_value, text) => {
        if (this.#recent.get(text.length)?.text === text) this.#recent.delete(text.length);
      },
    });
  }

  /** How many values there are. */
  get size(): number {
    return this.#all.size;
  }

  /** Characters of all texts. */
  get characters(): number {
    return this.#all.calculatedSize;
  }

  get(text: string): Value | undefined {
    const recent = this.#recent.get(text.length);
    if (recent !== undefined && recent.text === text) {
      recent.hits += 1;
      if (recent.hits % hitsOfUse === 0) this.#all.get(text);
      return recent.value;
    }
    const value = this.#all.get(text);
    if (value !== undefined) this.#recent.set(text.length, { text, value, hits: 0 });
    return value;
  }

  set(text: string, value: Value): void {
    this.#all.set(text, value);
  }

  /** Removes the value that was not used for longest, and returns it. */
  pop(): Value | undefined {
    return this.#all.pop();
  }

  /** Removes the values of which this is true. */
  remove(isUnwanted: (value: Value) => boolean): void {
    for (const [text, value] of [...this.#all.entries()]) if (isUnwanted(value)) this.#all.delete(text);
  }

  values(): Iterable<Value> {
    return this.#all.values();
  }
}
