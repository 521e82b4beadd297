/** What `pg-connections.ts` uses of a `pg.Pool`. */

/** A `pg.PoolClient`. */
export interface LentClient {
  release(error?: unknown): void;
}

/** A `pg.Pool`. */
export interface LendingPool<Client extends LentClient> {
  readonly waitingCount: number;
  /** Idle connections in the pool; none if it has lent all of them. */
  readonly idleCount?: number;
  readonly options: { readonly max?: number };
  connect(callback: (error: Error | undefined, client: Client | undefined) => void): void;
}
