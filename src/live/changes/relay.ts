/**
 * Between the processes that serve one database: one of them reads the changes and passes them on, by NOTIFY; the others take its place if it
 * ends. Whoever holds an advisory lock is the one, so there is never more than one, and its lock ends with its connection. It shows that it
 * is alive by asking something every second; others end the connection of one that hangs.
 *
 * A payload is the sender's name, a word, and what belongs to it. `hello`: somebody follows; `lead`: the sender reads the changes, by this
 * method; `here`: the answer of a follower that knew another leader; `change`: these tables, or all; `lost`: the sender has no changes to
 * pass on; `bye`: it ends.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DirectConnection } from '../../database/database.ts';
import type { LiveMethod } from '../../extension/install-live.ts';

interface RelayListener {
  /** This process is to read the changes. */
  elected(): void;
  /** Another one reads them from now on; null: nobody does. */
  following(method: LiveMethod | null): void;
  /** It passed on that these tables have changed; null: any. */
  changed(tables: ReadonlySet<number> | null): void;
}

export const relayChannel = 'rowgraph_live';
const lockKey = `pg_catalog.hashtext('rowgraph.live')`;
/** How often followers look whether the leader is still there, and the leader shows that it is, in milliseconds. */
const lookMillis = 1000;
/** After so many looks in vain, a leader that has asked nothing for five seconds loses its connection, and with it the lock. */
const patientLooks = 3;
/** Of a login that may not see or end the leader's sessions, no row. The lock's key of 64 bits is shown in two halves. */
const endText = `select pg_catalog.pg_terminate_backend(l.pid)
  from (select ${lockKey}::int8 as key) k, pg_catalog.pg_database d, pg_catalog.pg_locks l, pg_catalog.pg_stat_get_activity(l.pid) a
  where d.datname = pg_catalog.current_database() and l.database = d.oid and l.locktype = 'advisory' and l.granted and l.objsubid = 1
    and l.classid::int8 = (k.key >> 32) & 4294967295 and l.objid::int8 = k.key & 4294967295
    and a.state = 'idle' and a.state_change < pg_catalog.clock_timestamp() - '5 s'::interval
    and pg_catalog.pg_has_role(a.usesysid, 'member')`;
/** The shortest time between two notifications of changes: NOTIFY makes commits wait for each other. */
const passMillis = 50;
/** A payload has less than 8000 bytes. */
const tablesPerPayload = 600;
const methods: readonly string[] = ['wal', 'messages', 'table', 'notify'] satisfies LiveMethod[];

export class Relay {
  readonly #connection: DirectConnection;
  readonly #listener: RelayListener;
  readonly #name = randomBytes(6).toString('hex');
  readonly #left = new AbortController();
  #isLeading = false;
  /** The method of the leader, whoever that is. */
  #method: LiveMethod | null = null;
  #hasFollowers = false;
  /** What is to be passed on. */
  #pending: Set<number> | null | undefined;
  #isPassing = false;
  #isLooking = false;

  constructor(connection: DirectConnection, listener: RelayListener) {
    this.#connection = connection;
    this.#listener = listener;
  }

  get isLeading(): boolean {
    return this.#isLeading;
  }

  /** Rejects with `DatabaseError`. */
  async join(): Promise<void> {
    await this.#connection.query(`listen ${relayChannel}`);
    const isLeading = await this.#tryToLead();
    void this.#lookAgain();
    if (!isLeading) await this.#send('hello');
  }

  /** As leader: changes are read by this method from now on, or, if it is null, not read any more. */
  announce(method: LiveMethod | null): void {
    if (method === null && this.#method === null) return;
    this.#method = method;
    this.#pending = undefined;
    void this.#send(method === null ? 'lost' : `lead ${method}`).catch(ignore);
  }

  /** As leader: tells the followers that these tables have changed; null: any. */
  pass(tables: ReadonlySet<number> | null): void {
    if (!this.#hasFollowers) return;
    if (tables === null || this.#pending === null) this.#pending = null;
    else this.#pending = new Set([...(this.#pending ?? []), ...tables]);
    if (!this.#isPassing) void this.#passOn();
  }

  /** The connection's notifications. */
  receive(channel: string, payload: string): void {
    const [name, word, content = ''] = payload.split(' ');
    if (channel !== relayChannel || name === this.#name || this.#left.signal.aborted) return;
    if (this.#isLeading) this.#answer(word);
    else this.#follow(word, content);
  }

  /** Lets others lead at once instead of when they notice. */
  async leave(): Promise<void> {
    this.#left.abort();
    if (!this.#isLeading) return;
    const farewell = `select pg_catalog.pg_advisory_unlock(${lockKey}), pg_catalog.pg_notify('${relayChannel}', '${this.#name} bye')`;
    await this.#connection.query(farewell, lookMillis).catch(ignore);
  }

  #answer(word: string | undefined): void {
    if (word !== 'hello' && word !== 'here') return;
    const hadFollowers = this.#hasFollowers;
    this.#hasFollowers = true;
    if (this.#method === null) return;
    if (word === 'hello') void this.#send(`lead ${this.#method}`).catch(ignore);
    // What has changed since this one was told who leads was not passed on.
    else if (!hadFollowers) this.pass(null);
  }

  #follow(word: string | undefined, content: string): void {
    if (word === 'lead' && isMethod(content)) {
      this.#method = content;
      void this.#send('here').catch(ignore);
      this.#listener.following(content);
    } else if (word === 'lost' || word === 'bye') {
      this.#method = null;
      this.#listener.following(null);
      if (word === 'bye') void this.#look();
    } else if (word === 'change' && this.#method !== null) {
      this.#listener.changed(content === 'all' ? null : new Set(content.split(',').map(Number)));
    }
  }

  /** Never rejects: if the connection fails, it ends. */
  async #lookAgain(): Promise<void> {
    const { signal } = this.#left;
    for (let looks = 1; !signal.aborted; looks += 1) {
      await sleep(lookMillis, undefined, { signal, ref: false }).catch(ignore);
      if (signal.aborted) return;
      await this.#look();
      const text = this.#isLeading ? 'select' : looks % patientLooks === 0 ? endText : null;
      if (text !== null) await this.#connection.query(text).catch(ignore);
    }
  }

  /** Never rejects: if the connection fails, it ends. */
  async #look(): Promise<void> {
    if (this.#isLooking || this.#isLeading) return;
    this.#isLooking = true;
    await this.#tryToLead().catch(ignore);
    this.#isLooking = false;
  }

  /** Another session of the same connection string may hold the lock, but not this one: it would get it again. */
  async #tryToLead(): Promise<boolean> {
    const [row] = await this.#connection.query(`select pg_catalog.pg_try_advisory_lock(${lockKey})`);
    if (row?.[0] !== 't' || this.#left.signal.aborted) return false;
    this.#isLeading = true;
    this.#method = null;
    this.#listener.elected();
    return true;
  }

  async #passOn(): Promise<void> {
    this.#isPassing = true;
    try {
      while (this.#pending !== undefined && !this.#left.signal.aborted) {
        const tables = this.#pending;
        this.#pending = undefined;
        for (const content of encode(tables)) await this.#send(`change ${content}`);
        await sleep(passMillis, undefined, { signal: this.#left.signal, ref: false });
      }
    } catch {
      // The connection has ended, or will: whoever leads next begins with everything.
    } finally {
      this.#isPassing = false;
    }
  }

  async #send(text: string): Promise<void> {
    await this.#connection.query(`select pg_catalog.pg_notify('${relayChannel}', '${this.#name} ${text}')`);
  }
}

function encode(tables: ReadonlySet<number> | null): readonly string[] {
  if (tables === null) return ['all'];
  const ids = [...tables];
  const count = Math.ceil(ids.length / tablesPerPayload);
  return count > 10
    ? ['all']
    : Array.from({ length: count }, (_, index) => ids.slice(index * tablesPerPayload, (index + 1) * tablesPerPayload).join());
}

function isMethod(text: string): text is LiveMethod {
  return methods.includes(text);
}

function ignore(): void {}
