/** What a server of the benchmark receives through its environment. */

export interface Surroundings {
  readonly port: number;
  /** As the login role, which may switch to each caller's role. */
  readonly databaseUrl: string;
  /** As the superuser, for what is read once at startup. */
  readonly superuserUrl: string;
  readonly secret: string;
  readonly poolSize: number;
}

/** The environment of a server's process. */
export function toEnvironment(surroundings: Surroundings): Record<string, string> {
  return { BENCH_SURROUNDINGS: JSON.stringify(surroundings), NODE_ENV: 'production', GRAPHILE_ENV: 'production' };
}

/** Reads in that process what `toEnvironment` wrote. */
export function readSurroundings(): Surroundings {
  return JSON.parse(process.env.BENCH_SURROUNDINGS ?? '') as Surroundings;
}
