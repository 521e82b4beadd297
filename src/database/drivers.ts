/**
 * What a program may pass in: pools and connections of `pg` and PGlite, from any copy of these packages, and whatever extends or wraps
 * them. Described by what the published types of the packages have in common, so that none of them needs to be installed. Types only.
 */

export interface PgPoolLike {
  readonly idleCount: number;
  readonly waitingCount: number;
  readonly options: object;
  connect(callback: (error: Error | undefined, client: PgClientLike | undefined) => void): void;
  end(): Promise<void>;
}

/** A connection of `pg`: a `Client` or a `PoolClient`, but not a `Pool`, which has the same method. */
export interface PgClientLike {
  readonly idleCount?: never;
  query(config: { text: string; values: unknown[]; rowMode: 'array' }): Promise<{ readonly rows: readonly (readonly unknown[])[] }>;
}

export interface PgliteLike extends PgliteTransactionLike {
  readonly waitReady: Promise<void>;
  execProtocol(message: Uint8Array, options?: { throwOnError?: boolean }): Promise<object>;
  listen(channel: string, callback: (payload: string) => void): Promise<unknown>;
  transaction<Result>(work: (transaction: PgliteTransactionLike) => Promise<Result>): Promise<Result>;
}

export interface PgliteTransactionLike {
  query(text: string, parameters?: unknown[], options?: { rowMode?: 'array' }): Promise<{ readonly rows: readonly unknown[] }>;
  exec(text: string, options?: { rowMode?: 'array' }): Promise<readonly { readonly rows: readonly unknown[] }[]>;
}
