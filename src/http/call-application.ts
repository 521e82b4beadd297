/**
 * Calls a function of the application that must return its value synchronously. In: the function; out: its value. If it throws or returns a
 * promise, that is reported as a defect, and the request continues without the value.
 */

/** The value, or null if there is none. `name` is the option that holds the function. */
export function callApplication<Value>(name: string, call: () => Value, onDefect: (error: Error) => void): NonNullable<Value> | null {
  try {
    const value = call();
    if (!(value instanceof Promise)) return value ?? null;
    // Nobody awaits this promise.
    value.catch(() => undefined);
    throw new TypeError('it must return its value, not a promise');
  } catch (cause) {
    onDefect(new Error(`The function "${name}" failed: ${cause instanceof Error ? cause.message : String(cause)}`, { cause }));
    return null;
  }
}
