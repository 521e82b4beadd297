/**
 * A small queueing model (Lazowska et al., Quantitative System Performance, 1984): how many requests a second servers answer, and how long
 * each takes, from the CPU time that a request needs of each part. All times are in seconds.
 */

/** One kind of work: how long a request keeps one of its servers busy, and how many servers there are. */
export interface Station {
  readonly demand: number;
  readonly servers: number;
}

export interface Prediction {
  readonly requestsPerSecond: number;
  /** The mean time of a request. */
  readonly seconds: number;
}

/**
 * Clients that each send the next request as soon as they have an answer: mean value analysis. `pause`: how long nobody works for a request
 * on its way. A station with several servers counts as a fast one and a delay (Seidmann's approximation).
 */
export function predictClosed(clients: number, stations: readonly Station[], pause = 0): Prediction {
  const delay = stations.reduce((sum, { demand, servers }) => sum + (demand * (servers - 1)) / servers, pause);
  const lengths = stations.map(() => 0);
  let prediction = { requestsPerSecond: 0, seconds: 0 };
  for (let population = 1; population <= clients; population++) {
    const times = stations.map(({ demand, servers }, index) => (demand / servers) * (1 + lengths[index]!));
    const seconds = times.reduce((sum, time) => sum + time, delay);
    prediction = { requestsPerSecond: population / seconds, seconds };
    times.forEach((time, index) => {
      lengths[index] = prediction.requestsPerSecond * time;
    });
  }
  return prediction;
}

/** Requests that arrive at random, at this rate: the mean time of one at a station (Erlang's C formula); Infinity if it cannot keep up. */
export function timeAt({ demand, servers }: Station, requestsPerSecond: number): number {
  const load = requestsPerSecond * demand;
  if (load >= servers) return Number.POSITIVE_INFINITY;
  let term = 1;
  let sum = 1;
  for (let count = 1; count < servers; count++) {
    term *= load / count;
    sum += term;
  }
  const last = (term * load) / servers / (1 - load / servers);
  return demand + ((last / (sum + last)) * demand) / (servers - load);
}

/** How many servers a rate needs if each is to be busy for no more than this part of the time. */
export function serversFor(demand: number, requestsPerSecond: number, utilization: number): number {
  return Math.max(1, Math.ceil((requestsPerSecond * demand) / utilization));
}
