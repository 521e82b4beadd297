/**
 * A submittable of `pg`: the statement that sets role and claims, and the actual statements, all prepared, under a single Sync, which
 * PostgreSQL runs as one implicit transaction. Keeps only the last value.
 */
import type { Socket } from 'node:net';
import type { Connection, Submittable } from 'pg';
import type { Caller } from './caller.ts';

export interface NamedStatement {
  readonly name: string;
  readonly text: string;
}

/** A statement with its values. */
export interface BoundStatement extends NamedStatement {
  readonly values: readonly string[];
}

/** `pg`'s actual interface behind its types: one argument is enough. */
interface Wire {
  readonly stream: Socket;
  parse(statement: NamedStatement): void;
  bind(portal: { statement: string; values: readonly string[] }): void;
  execute(portal: { portal: string }): void;
  sync(): void;
}

const setUp: NamedStatement = {
  name: 'set-up',
  text: "select set_config('role', $1, true), set_config('request.jwt.claims', $2, true), set_config('search_path', 'public', true)",
};

/** The names of the statements that are prepared on each connection. */
const prepared = new WeakMap<Wire, Set<string>>();

/** Sends statements as a caller; `done` receives the error, or the first column of the last row. */
export class RoleBatch implements Submittable {
  readonly #caller: Caller;
  readonly #statements: readonly BoundStatement[];
  readonly #done: (error: Error | null, value: string | null) => void;
  #value: string | null = null;
  #error: Error | null = null;

  constructor(caller: Caller, statements: readonly BoundStatement[], done: (error: Error | null, value: string | null) => void) {
    this.#caller = caller;
    this.#statements = statements;
    this.#done = done;
  }

  submit(connection: Connection): void {
    const wire = connection as unknown as Wire;
    wire.stream.cork();
    this.#send(wire, setUp, [this.#caller.role, this.#caller.claims]);
    for (const statement of this.#statements) this.#send(wire, statement, statement.values);
    wire.sync();
    wire.stream.uncork();
  }

  #send(wire: Wire, statement: NamedStatement, values: readonly string[]): void {
    const names = prepared.get(wire) ?? new Set();
    if (!names.has(statement.name)) wire.parse(statement);
    prepared.set(wire, names.add(statement.name));
    wire.bind({ statement: statement.name, values });
    wire.execute({ portal: '' });
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    this.#value = fields[0] ?? null;
  }

  handleError(error: Error): void {
    this.#error = error;
  }

  handleReadyForQuery(): void {
    this.#done(this.#error, this.#value);
  }

  handleRowDescription(): void {}
  handleCommandComplete(): void {}
  handleEmptyQuery(): void {}
  handlePortalSuspended(): void {}
}
