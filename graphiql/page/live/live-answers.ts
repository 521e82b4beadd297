/** What the page knows of the subscription in the editor: whether it runs, how many answers came, when, and the last two. */

export interface LiveState {
  readonly isRunning: boolean;
  readonly count: number;
  /** Of the last answer, in milliseconds since 1970. */
  readonly at: number;
  /** Null before the second answer. */
  readonly previous: object | null;
  readonly current: object;
}

export class LiveAnswers {
  #state: LiveState | null = null;
  #stop: (() => void) | null = null;
  readonly #listeners = new Set<() => void>();

  /** Null if no subscription was run since the last other operation. */
  readonly get = (): LiveState | null => this.#state;

  /** Calls the listener after each change, until the returned function is called. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** A subscription begins; `stop` ends it. */
  begin(stop: () => void): void {
    this.clear();
    this.#stop = stop;
  }

  note(answer: object): void {
    const before = this.#state;
    this.#set({ isRunning: true, count: (before?.count ?? 0) + 1, at: Date.now(), previous: before?.current ?? null, current: answer });
  }

  end(): void {
    this.#stop = null;
    if (this.#state !== null) this.#set({ ...this.#state, isRunning: false });
  }

  /** Ends what runs, and forgets it: another caller has been chosen, or another operation is run. */
  clear(): void {
    this.#stop?.();
    this.#stop = null;
    this.#set(null);
  }

  #set(state: LiveState | null): void {
    this.#state = state;
    for (const listener of this.#listeners) listener();
  }
}
