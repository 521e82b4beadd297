/**
 * Loads SQL files into the embedded database, statement by statement, so that an error names the file and the line. In: the files; out:
 * nothing, or a `CommandError` with one line.
 */
import type { Extensions, PGlite, Results } from '@electric-sql/pglite';
import { CommandError } from '../command-error.ts';
import type { Progress } from '../progress.ts';
import { lineAt, SqlSplitError, type SqlStatement, splitSql } from './split-sql.ts';

export interface SqlFile {
  readonly name: string;
  readonly text: string;
}

/** Runs the files in their order. The session is as it was afterwards, whatever they set. */
export async function loadSql(pglite: PGlite, files: readonly SqlFile[], progress: Progress): Promise<void> {
  for (const file of files) {
    const statements = split(file);
    let done = 0;
    await progress.step(
      `Loading ${file.name}`,
      async () => {
        for (const statement of statements) {
          await runStatement(pglite, file, statement);
          done += 1;
        }
      },
      { describeState: () => `${done} of ${statements.length} statements` },
    );
    if (pglite.isInTransaction()) throw new CommandError(`${file.name}: a transaction is still open at the end: add "commit;"`, 1);
    await pglite.exec('reset session authorization; reset role; reset all');
  }
}

function split(file: SqlFile): SqlStatement[] {
  try {
    return splitSql(file.text);
  } catch (error) {
    if (error instanceof SqlSplitError) throw failure(file, error.offset, error.message);
    throw error;
  }
}

async function runStatement(pglite: PGlite, file: SqlFile, statement: SqlStatement): Promise<unknown> {
  try {
    return await (statement.copyData === null ? pglite.exec(statement.text) : copy(pglite, statement.text, statement.copyData));
  } catch (error) {
    const { message, position, detail, hint } = error as PostgresError;
    const offset = statement.offset + offsetOf(statement.text, Number(position ?? 1));
    throw failure(file, offset, [message, detail, hint].filter(Boolean).join('; '), error);
  }
}

/** PGlite reads the rows of a copy from a file of this name. */
function copy(pglite: PGlite, text: string, rows: string): Promise<Results> {
  return pglite.query(text.replace(/\bfrom\s+stdin\b/i, "from '/dev/blob'"), [], { blob: new Blob([rows]) });
}

/** What PGlite's errors have of PostgreSQL's. */
interface PostgresError {
  readonly message: string;
  /** Counted in characters, from 1. */
  readonly position?: string;
  readonly detail?: string;
  readonly hint?: string;
}

/** PostgreSQL counts characters, JavaScript counts UTF-16 units. */
function offsetOf(text: string, position: number): number {
  return [...text].slice(0, position - 1).join('').length;
}

function failure(file: SqlFile, offset: number, message: string, cause?: unknown): CommandError {
  return new CommandError(`${file.name}:${lineAt(file.text, offset)}: ${message.replaceAll(/\s*\n\s*/g, ' ')}`, 1, cause);
}

/** Names of the extensions that the files create. */
export function findExtensions(files: readonly SqlFile[]): string[] {
  const pattern = /\bcreate\s+extension\s+(?:if\s+not\s+exists\s+)?"?([a-z0-9_-]+)"?/gi;
  return [...new Set(files.flatMap((file) => [...file.text.matchAll(pattern)].map((match) => (match[1] ?? '').toLowerCase())))];
}

/** The extensions as PGlite wants them. Of one that it does not have, PostgreSQL itself will say so. */
export async function importExtensions(names: readonly string[]): Promise<Extensions> {
  const found = await Promise.all(names.map(importExtension));
  return Object.assign({}, ...found) as Extensions;
}

async function importExtension(name: string): Promise<Extensions> {
  try {
    return (await import(`@electric-sql/pglite/contrib/${name.replaceAll('-', '_')}`)) as Extensions;
  } catch {
    return {};
  }
}
