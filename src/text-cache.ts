/**
 * An LRU cache for long keys that are looked up again and again, such as documents. A lookup first compares the key with the latest one of
 * the same length, so most hits need no hash. In: texts with their values; out: the values, as long as there is room.
 */
import { LRUCache } from 'lru-cache';

/**
 * How many hits through `#recent` count as one use in the LRU: enough to keep a popular text, while recording each hit would need the hash.
 */
const hitsOfUse = 64;

interface Recent<Value> {
  readonly text: string;
  readonly value: Value;
  hits: number;
}

export class TextCache<Value extends object> {
  readonly #all: LRUCache<string, Value>;
  /** The latest entry for each length of text. Only entries that are in the cache. */
  readonly #recent = new Map<number, Recent<Value>>();

  /** Keeps at most this many values, and this many characters of texts in total. */
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

  /** The number of values. */
  get size(): number {
    return this.#all.size;
  }

  /** The total characters of all texts. */
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

  /** Removes the least recently used value, and returns it. */
  pop(): Value | undefined {
    return this.#all.pop();
  }

  /** Removes all values that the predicate accepts. */
  remove(isUnwanted: (value: Value) => boolean): void {
    for (const [text, value] of [...this.#all.entries()]) if (isUnwanted(value)) this.#all.delete(text);
  }

  values(): Iterable<Value> {
    return this.#all.values();
  }
}
