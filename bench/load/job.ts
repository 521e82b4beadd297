/** The jobs of the load generator, and their results. */

export interface PreparedRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The answer, byte for byte; if the job has `masked`, except for its digits. */
  readonly expected: string;
}

export interface Job {
  readonly url: string;
  readonly requests: readonly PreparedRequest[];
  readonly masked: boolean;
  readonly connections: number;
}

/** Jobs that take turns. */
export interface Load {
  readonly jobs: readonly Job[];
  /** How long each of them runs before its requests count: the load generator itself is slow at first. */
  readonly warmUpSeconds: number;
  /** How long each of them runs in all while its requests count. */
  readonly seconds: number;
  /** How long it runs until it is the next one's turn. */
  readonly turnSeconds: number;
}

export interface JobResult {
  readonly requests: number;
  readonly seconds: number;
  /** In milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly wrong: number;
  /** The first wrong response. */
  readonly complaint: string | null;
}

/** What the load generator reports: that it is warm, so that whoever measures may begin; and, in the end, the results of the jobs, in their order. */
export type Report = { readonly isWarm: true } | { readonly isWarm: false; readonly results: readonly JobResult[] };

/** A text without ids and times, which change from one answer to the next. */
export function maskDigits(text: string): string {
  return text.replace(/[\d.]+/g, '0');
}
