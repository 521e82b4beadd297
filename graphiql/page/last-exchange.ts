/** The last request that the user ran, with what came back beside the response: for the tabs beside it. */

export interface Exchange {
  readonly query: string;
  readonly variables: unknown;
  readonly operationName: string | undefined;
  /** What was sent, by names in lower case. */
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly status: number;
  readonly responseHeaders: readonly (readonly [name: string, value: string])[];
  /** From sending it until the response was read. */
  readonly milliseconds: number;
  /** Of the response, decompressed. */
  readonly bytes: number;
}

export class LastExchange {
  #exchange: Exchange | null | undefined;
  readonly #listeners = new Set<() => void>();

  /** Null where it was not answered; undefined as long as nothing was asked. */
  readonly get = (): Exchange | null | undefined => this.#exchange;

  readonly set = (exchange: Exchange | null): void => {
    this.#exchange = exchange;
    for (const listener of this.#listeners) listener();
  };

  /** Calls the listener after each change, until the function that it returns is called. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
}
