/** Waits for Ctrl-C or SIGTERM. */

/** npm passes a Ctrl-C on that the terminal has sent us already; signals so close together (in milliseconds) are one. */
const oneSignal = 500;

/** Resolves at the first SIGINT or SIGTERM. A second one ends the process at once. */
export function waitForStopSignal(): Promise<void> {
  let first: number | undefined;
  return new Promise((resolve) => {
    const onSignal = (): void => {
      const now = performance.now();
      if (first === undefined) {
        first = now;
        resolve();
      } else if (now - first > oneSignal) process.exit(130);
    };
    process.on('SIGINT', onSignal);
    process.on('SIGTERM', onSignal);
  });
}
