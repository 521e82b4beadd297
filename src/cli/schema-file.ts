/**
 * A file with the schema of a role, for editors and code generators: `rowgraph schema --out`. It is replaced atomically, so that nobody
 * reads half of it, and left alone if it is up to date.
 */
import { randomUUID } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { CommandError } from './command-error.ts';

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
