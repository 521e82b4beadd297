import { randomUUID } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { Command } from 'commander';
import type { Observer } from '../../events.ts';
import { CommandError } from '../command-error.ts';
import type { CommandSettings, Environment } from '../config.ts';
import { modelOptionsOf, modelSettingNames } from '../graph-options.ts';
import { addSettings, readSettings } from '../read-settings.ts';

/** `rowgraph schema`: prints the GraphQL schema that a role sees, or keeps a file of it up to date. */

const names = ['databaseUrl', 'schemas', 'anonRole', ...modelSettingNames] as const;
type Name = (typeof names)[number];
const schemaSettings: CommandSettings<Name, 'databaseUrl'> = {
  names,
  required: ['databaseUrl'],
  defaults: {},
};

interface Flags extends Readonly<Record<string, string | undefined>> {
  readonly role?: string;
  readonly out?: string;
}

export function schemaCommand(environment: Environment): Command {
  const command = new Command('schema')
    .description('Print the GraphQL schema that a role sees')
    .option('--role <ROLE>', 'Database role (default: that of --anon-role)')
    .option('--out <FILE>', 'Write the schema to this file, for editors and code generators')
    .option('--watch', 'Keep running, and rewrite the file whenever the schema changes');
  return addSettings(command, schemaSettings).action(async ({ watch = false, ...flags }: Flags & { readonly watch?: boolean }) => {
    const configuration = readSettings(schemaSettings, flags, environment);
    const { databaseUrl, schemas, anonRole } = configuration;
    if (watch && flags.out === undefined) throw new CommandError('--watch needs --out: the file to keep up to date', 2);
    const [{ createRowgraph }, { checkDatabase }] = await Promise.all([import('../../index.ts'), import('../check-database.ts')]);
    const role = flags.role ?? anonRole;
    await checkDatabase({ databaseUrl, schemas, role, roleFlag: flags.role === undefined ? '--anon-role' : '--role' });
    let onLoad: (() => void) | null = null;
    const observe: Observer = ({ kind }) => (kind === 'schema-loaded' ? onLoad?.() : undefined);
    const graph = await createRowgraph({ database: databaseUrl, schemas, poolSize: 1, ...modelOptionsOf(configuration), observe });
    // Neither the wait for a signal nor the watch keeps the process alive: it would end when the database closes its connections.
    const staysAlive = watch ? setInterval(() => undefined, 2 ** 30) : undefined;
    try {
      const read = () => graph.sdl({ role });
      if (flags.out === undefined) {
        process.stdout.write(`${await read()}\n`);
        return;
      }
      const file = new SchemaFile(flags.out, read);
      const end = watch ? nextSignal() : null;
      // What was loaded takes effect only after this turn of the event loop.
      onLoad = () => void setImmediate(() => void file.update().catch(report));
      await file.update();
      await end;
    } finally {
      clearInterval(staysAlive);
      onLoad = null;
      await graph.close();
    }
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

/**
 * A file with the schema of a role, for editors and code generators: `rowgraph schema --out`. It is replaced atomically, so that nobody
 * reads half of it, and left alone if it is up to date.
 */

export class SchemaFile {
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
      throw new CommandError(`--out ${this.#name} cannot be written: ${(error as Error).message}`, 2, error);
    }
    process.stderr.write(`${this.#name}: ${present === null ? 'written' : 'updated'}\n`);
  }
}
