/**
 * Decides when a serving process must end: at Ctrl-C or SIGTERM, or when an uncaught exception leaves it in an unknown state. An unhandled
 * rejection is a bug too, but leaves the state intact: it is reported, and the process continues.
 */
import type { Observer } from '../../events.ts';
import type { ServiceConfiguration } from '../command-settings.ts';

/** Why the process ends. After a fault the exit code is not zero. */
type EndReason = 'SIGINT' | 'SIGTERM' | 'fault';

export interface ProcessEnd {
  /** Resolves when shutdown begins. Requests in flight must still get their responses. */
  readonly begun: Promise<EndReason>;
  isBegun(): boolean;
  /** Resolves after an uncaught exception, before or during shutdown: then shutdown must be quick. */
  readonly faulted: Promise<void>;
  hasFaults(): boolean;
}

/** npm forwards a Ctrl-C that the terminal has already sent us; signals this close together (in milliseconds) count as one. */
const oneSignal = 500;

/** Starts watching. A second signal, or a second uncaught exception, ends the process immediately. */
export function watchForEnd(observe: Observer): ProcessEnd {
  let firstSignal: number | undefined;
  let hasBegun = false;
  let hasFaults = false;
  const begun = Promise.withResolvers<EndReason>();
  const faulted = Promise.withResolvers<void>();
  const begin = (reason: EndReason): void => {
    hasBegun = true;
    begun.resolve(reason);
  };
  const onSignal = (signal: 'SIGINT' | 'SIGTERM'): void => {
    const now = performance.now();
    if (firstSignal !== undefined && now - firstSignal > oneSignal) process.exit(130);
    firstSignal ??= now;
    begin(signal);
  };
  // Keep running even if nobody reads standard output.
  process.stdout.on('error', () => undefined);
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  process.on('unhandledRejection', (error) => {
    observe({ kind: 'defect-found', requestId: null, error, origin: 'unhandledRejection' });
  });
  process.on('uncaughtException', (error) => {
    try {
      observe({ kind: 'defect-found', requestId: null, error, origin: 'uncaughtException' });
    } finally {
      if (hasFaults) process.exit(1);
      hasFaults = true;
      begin('fault');
      faulted.resolve();
    }
  });
  return { begun: begun.promise, faulted: faulted.promise, isBegun: () => hasBegun, hasFaults: () => hasFaults };
}

/**
 * Makes sure that the process ends even if something hangs: within the time that its settings allow, and after a fault without the drain
 * delay.
 */
export function boundEnd(end: ProcessEnd, configuration: Pick<ServiceConfiguration, 'drainDelay' | 'closeTimeout'>): void {
  void end.begun.then(() => endWithin(longestEnd(configuration)));
  void end.faulted.then(() => endWithin(longestEnd({ ...configuration, drainDelay: 0 })));
}

/** How long closing takes beyond the time that requests have: for the database connections, with a margin. */
const closingMilliseconds = 5000;

/** How long a process takes to end at most, from the signal on, even if something hangs. */
export function longestEnd({ drainDelay, closeTimeout }: Pick<ServiceConfiguration, 'drainDelay' | 'closeTimeout'>): number {
  return drainDelay + closeTimeout + closingMilliseconds;
}

/** Ends the process by force after this many milliseconds, unless it has ended by itself. */
function endWithin(milliseconds: number): void {
  setTimeout(() => {
    process.stderr.write(`rowgraph: shutdown took longer than ${milliseconds} ms and was forced\n`);
    process.exit(1);
  }, milliseconds).unref();
}

/** Ends the process even if something is still open, such as a connection to a silent server: nobody waits for it any more. */
export function leave(): void {
  setTimeout(() => process.exit(), 200).unref();
}
