/**
 * What is prepared on one connection: statement texts and their names, bounded, the least recently used makes room.
 * Knows no driver; `encode-flight.ts` writes the messages that go with it.
 */
import { createHash } from 'node:crypto';

/**
 * The prepared statements of one connection. A name is a digest of the text, so that two clients whose connections a pooler
 * mixes up can never run each other's text under one name.
 */
export class PreparedStatements {
  readonly #capacity: number;
  /** Text → name, the least recently used first. */
  readonly #names = new Map<string, string>();
  /** Names that fell out and are still to be closed on the server. */
  #evicted: string[] = [];
  /** What the flight under way parses: whether that succeeded is known when it is over. */
  #unsettled: { readonly text: string; readonly position: number }[] = [];

  constructor(capacity: number) {
    this.#capacity = Math.max(1, capacity);
  }

  get size(): number {
    return this.#names.size;
  }

  /** The name of a text that is prepared, or undefined. */
  find(text: string): string | undefined {
    const name = this.#names.get(text);
    if (name !== undefined) {
      this.#names.delete(text);
      this.#names.set(text, name);
    }
    return name;
  }

  /** Names a text that the flight under way parses; `position` is its place among the statements of the flight. */
  add(text: string, position: number): string {
    const name = `rowgraph_${createHash('sha256').update(text).digest('base64url').slice(0, 22)}`;
    if (this.#names.size >= this.#capacity) this.#evictOldest();
    this.#names.set(text, name);
    this.#unsettled.push({ text, position });
    return name;
  }

  /** The names to close, each told once. */
  takeEvicted(): readonly string[] {
    if (this.#evicted.length === 0) return none;
    const evicted = this.#evicted;
    this.#evicted = [];
    return evicted;
  }

  /** Ends a flight of which the first `completed` statements ran: the server skipped everything after an error, parsing included. */
  settle(completed: number): void {
    if (this.#unsettled.length === 0) return;
    for (const { text, position } of this.#unsettled) {
      if (position >= completed) this.#names.delete(text);
    }
    this.#unsettled = [];
  }

  /** Forgets everything: the server told that it does not know a name, or that a plan is of no use any more. */
  forgetAll(): void {
    this.#names.clear();
    this.#unsettled = [];
  }

  #evictOldest(): void {
    for (const [text, name] of this.#names) {
      this.#names.delete(text);
      this.#evicted.push(name);
      return;
    }
  }
}

const none: readonly string[] = [];
