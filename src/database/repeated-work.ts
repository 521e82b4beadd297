/**
 * The connection on which work stays that runs again and again: what PostgreSQL caches for it takes memory, and seems to slow down what
 * else runs on a connection (docs/decisions/hot-path.md). In: work as it is served; out: its connection, and what waits for that one.
 */
import type { DatabaseError } from '../errors/database-error.ts';
import { deleteFrom } from './work-list.ts';

export interface RepeatableWork {
  /** Whether it runs again and again, and should stay on one connection. */
  readonly isRepeated: boolean;
  /** Ends its wait. */
  refuse(error: DatabaseError): void;
}

/** How long work waits for the connection that ran the last of it. */
const waitMillis = 100;

export class RepeatedWork<Client, Work extends RepeatableWork> {
  #connection: Client | null = null;
  readonly #waiting: Work[] = [];

  /** The connection that ran the last repeated work, if any. It may be gone. */
  get connection(): Client | null {
    return this.#connection;
  }

  /** Work of any kind gets a connection. */
  noteServed(client: Client, { isRepeated }: Work): void {
    if (isRepeated) this.#connection = client;
  }

  /** Lets work wait for its connection. `onLate` is called with it if it waits for too long. */
  wait(work: Work, onLate: (work: Work) => void): void {
    this.#waiting.push(work);
    setTimeout(() => {
      if (deleteFrom(this.#waiting, work)) onLate(work);
    }, waitMillis).unref();
  }

  /** The next work that waits for this connection. */
  takeFor(client: Client): Work | undefined {
    return client === this.#connection ? this.#waiting.shift() : undefined;
  }

  /** Removes work that waits. Returns whether it did. */
  remove(work: Work): boolean {
    return deleteFrom(this.#waiting, work);
  }

  /** Refuses all work that waits. */
  refuseAll(error: DatabaseError): void {
    for (const work of this.#waiting.splice(0)) work.refuse(error);
  }
}
