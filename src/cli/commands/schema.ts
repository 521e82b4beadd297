/** `rowgraph schema`: prints the GraphQL schema that a role sees, or keeps a file of it up to date. */
import { randomUUID } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { Command } from 'commander';
import type { Observer } from '../../events.ts';
import { CommandError, describeFileError } from '../command-error.ts';
import { inspectSettings } from '../command-settings.ts';
import { addSettings, type Environment, readSettings } from '../config.ts';
import { addRole, type Flags, print, withGraph } from './with-graph.ts';

export function schemaCommand(environment: Environment): Command {
  const command = new Command('schema').description('Print the GraphQL schema that a role sees');
  addRole(command)
    .option('--out <FILE>', 'Write the schema to this file, for editors and code generators')
    .option('--watch', 'Keep running, and rewrite the file whenever the schema changes');
  return addSettings(command, inspectSettings).action(async ({ watch = false, ...flags }: Flags & { readonly watch?: boolean }) => {
    const configuration = readSettings(inspectSettings, flags, environment);
    const { out } = flags;
    if (watch && out === undefined) throw new CommandError('--watch needs --out: the file to keep up to date', 2);
    let onLoad: (() => void) | null = null;
    const observe: Observer = ({ kind }) => (kind === 'schema-loaded' ? onLoad?.() : undefined);
    await withGraph(
      configuration,
      flags,
      async (graph, role) => {
        const read = () => graph.sdl({ role });
        if (out === undefined) return print(await read());
        const file = new SchemaFile(out, read);
        const end = watch ? nextSignal() : null;
        // Neither the wait for a signal nor the watch keeps the process alive: it would end when the database closes its connections.
        const staysAlive = watch ? setInterval(() => undefined, 2 ** 30) : undefined;
        // What was loaded takes effect only after this turn of the event loop.
        onLoad = () => void setImmediate(() => void file.update().catch(report));
        try {
          await file.update();
          await end;
        } finally {
          clearInterval(staysAlive);
          onLoad = null;
        }
      },
      observe,
    );
  });
}

/** Resolves at Ctrl-C or SIGTERM. */
function nextSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
}

/** The file stays as it is; the next change is another chance. */
function report(error: unknown): void {
  process.stderr.write(`rowgraph: ${(error as Error).message}\n`);
}

/** The file is replaced atomically, so that nobody reads half of it, and left alone if it is up to date. */
class SchemaFile {
  readonly #name: string;
  readonly #read: () => Promise<string>;
  #writing: Promise<void> = Promise.resolve();

  /** `read` returns the current schema. */
  constructor(name: string, read: () => Promise<string>) {
    this.#name = name;
    this.#read = read;
  }

  /** Updates the file, after any update in progress. Rejects with a `CommandError` if it cannot be written. */
  update(): Promise<void> {
    const next = this.#writing.then(() => this.#write());
    this.#writing = next.catch(() => undefined);
    return next;
  }

  async #write(): Promise<void> {
    const text = `${await this.#read()}\n`;
    const present = await readFile(this.#name, 'utf8').catch(() => null);
    if (present === text) return;
    const fresh = `${this.#name}.${randomUUID()}`;
    try {
      await writeFile(fresh, text);
      await rename(fresh, this.#name);
    } catch (error) {
      await rm(fresh, { force: true });
      throw new CommandError(`--out ${this.#name} cannot be written: ${describeFileError(error)}`, 2, error);
    }
    process.stderr.write(`${this.#name}: ${present === null ? 'written' : 'updated'}\n`);
  }
}
