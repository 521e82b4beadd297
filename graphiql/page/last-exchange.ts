/** The last request that the user ran, with the facts about its response that the tabs show. */

export interface Exchange {
  readonly query: string;
  readonly variables: unknown;
  readonly operationName: string | undefined;
  /** The headers that were sent, with names in lower case. */
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly status: number;
  readonly responseHeaders: readonly (readonly [name: string, value: string])[];
  /** From sending the request to the end of the response. */
  readonly milliseconds: number;
  /** Size of the response, decompressed. */
  readonly bytes: number;
}

export class LastExchange {
  #exchange: Exchange | null | undefined;
  readonly #listeners = new Set<() => void>();

  /** Null if it was not answered; undefined as long as nothing was asked. */
  readonly get = (): Exchange | null | undefined => this.#exchange;

  /** Undefined forgets it: another caller has been chosen. */
  readonly set = (exchange: Exchange | null | undefined): void => {
    this.#exchange = exchange;
    for (const listener of this.#listeners) listener();
  };

  /** Calls the listener after each change, until the returned function is called. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
}
