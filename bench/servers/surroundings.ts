/** What a server of the benchmark is told through its environment. */

export interface Surroundings {
  readonly port: number;
  /** As the login role that may become each caller's. */
  readonly databaseUrl: string;
  /** As the superuser, for what is read once at the start. */
  readonly superuserUrl: string;
  readonly secret: string;
  readonly poolSize: number;
}

/** The environment of a server's process. */
export function toEnvironment(surroundings: Surroundings): Record<string, string> {
  return { BENCH_SURROUNDINGS: JSON.stringify(surroundings), NODE_ENV: 'production', GRAPHILE_ENV: 'production' };
}

/** What `toEnvironment` was given, in that process. */
export function readSurroundings(): Surroundings {
  return JSON.parse(process.env.BENCH_SURROUNDINGS ?? '') as Surroundings;
}
