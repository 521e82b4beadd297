/** One subscriber: the iterator over the answers to a request, which keeps at most one answer that was not read yet. */
import type { RawResponse } from '../engine/request.ts';

interface Reader {
  resolve(result: IteratorResult<RawResponse, undefined>): void;
  reject(error: unknown): void;
}

const done = { done: true, value: undefined } as const;

export class Subscription implements AsyncIterableIterator<RawResponse, undefined, void> {
  /** Begins the subscription, with the first `next()`; null once that has happened. */
  #begin: ((subscription: Subscription) => void) | null;
  /** Called once when the subscription has ended, for whatever reason. */
  #onEnd: (() => void) | null = null;
  /** Called once when another answer is wanted. */
  #onWanted: (() => void) | null = null;
  #readers: Reader[] = [];
  #unread: RawResponse | null = null;
  #isEnded = false;
  /** What the subscription ended with, until it is read; undefined if nothing. */
  #error: { readonly error: unknown } | undefined;

  constructor(begin: (subscription: Subscription) => void) {
    this.#begin = begin;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Calls back when it ends; at once if it has. */
  set onEnd(callback: () => void) {
    if (this.#isEnded) callback();
    else this.#onEnd = callback;
  }

  /** Calls back when its reader has taken what was given, and wants more; not if it ends before. */
  set onWanted(callback: () => void) {
    if (this.#readers.length > 0) callback();
    else this.#onWanted = callback;
  }

  next(): Promise<IteratorResult<RawResponse, undefined>> {
    const begin = this.#begin;
    this.#begin = null;
    if (begin !== null && !this.#isEnded) begin(this);
    const unread = this.#unread;
    if (unread !== null) {
      this.#unread = null;
      return Promise.resolve({ done: false, value: unread });
    }
    if (this.#error !== undefined) {
      const { error } = this.#error;
      this.#error = undefined;
      return Promise.reject(error);
    }
    if (this.#isEnded) return Promise.resolve(done);
    const wanted = new Promise<IteratorResult<RawResponse, undefined>>((resolve, reject) => this.#readers.push({ resolve, reject }));
    const onWanted = this.#onWanted;
    this.#onWanted = null;
    onWanted?.();
    return wanted;
  }

  /** Unsubscribes. */
  return(): Promise<IteratorResult<RawResponse, undefined>> {
    this.#unread = null;
    this.#error = undefined;
    this.#end();
    return Promise.resolve(done);
  }

  /** Gives an answer, which replaces one that was not read. */
  give(response: RawResponse): void {
    if (this.#isEnded) return;
    const reader = this.#readers.shift();
    if (reader === undefined) this.#unread = response;
    else reader.resolve({ done: false, value: response });
  }

  /** Ends it after the answer that was given last. */
  complete(): void {
    this.#end();
  }

  /** Ends it with an error, which replaces an answer that was not read. */
  fail(error: unknown): void {
    if (this.#isEnded) return;
    this.#unread = null;
    const reader = this.#readers.shift();
    if (reader === undefined) this.#error = { error };
    else reader.reject(error);
    this.#end();
  }

  #end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#begin = null;
    this.#onWanted = null;
    for (const reader of this.#readers.splice(0)) reader.resolve(done);
    const onEnd = this.#onEnd;
    this.#onEnd = null;
    onEnd?.();
  }
}

/** A subscription that an error ends at once. */
export function failing(error: unknown): Subscription {
  return new Subscription((subscription) => subscription.fail(error));
}

/** The answers as results. What ends them with an error becomes the last result, unless `failure` throws. */
export function readResults<Result>(
  answers: AsyncIterableIterator<RawResponse>,
  toResult: (answer: RawResponse) => Result,
  failure: (error: unknown) => Result,
): AsyncIterableIterator<Result> {
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      try {
        const { done, value } = await answers.next();
        return done === true ? { done, value: undefined } : { done: false, value: toResult(value) };
      } catch (error) {
        return { done: false, value: failure(error) };
      }
    },
    async return() {
      await answers.return?.();
      return { done: true, value: undefined };
    },
  };
}
