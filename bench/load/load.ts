/** A load on one server: what the load generator is told, what it reports, and how it is run. */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export interface PreparedRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The answer, byte for byte; if the load is `masked`, except for its digits. */
  readonly expected: string;
}

export interface Load {
  readonly url: string;
  readonly requests: readonly PreparedRequest[];
  readonly masked: boolean;
  readonly connections: number;
  /** How long the load runs before its requests count: the load generator itself is slow at first. */
  readonly warmUpSeconds: number;
  readonly seconds: number;
}

export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
  /** In milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** CPU seconds of the load generator, from when it was warm. */
  readonly cpu: number;
  readonly wrong: number;
  /** The first wrong response. */
  readonly complaint: string | null;
}

/** A text without ids and times, which change from one answer to the next. */
export function maskDigits(text: string): string {
  return text.replace(/[\d.]+/g, '0');
}

const program = fileURLToPath(new URL('./generate-load.ts', import.meta.url));

/** Generates a load in a process of its own. `onWarm` is called when its requests begin to count. */
export function runLoad(load: Load, onWarm: () => void = () => {}): Promise<LoadResult> {
  return new Promise((resolve, reject) => {
    const child = fork(program);
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`The load generator has ended with code ${code}`)));
    child.on('message', (message: 'warm' | LoadResult) => (message === 'warm' ? onWarm() : resolve(message)));
    child.send(load);
  });
}
