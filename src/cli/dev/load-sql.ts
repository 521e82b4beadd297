/** Loads SQL files into the embedded database, statement by statement, so that an error names the file and the line. */
import type { Extensions, PGlite, Results } from '@electric-sql/pglite';
import { CommandError } from '../command-error.ts';
import { type Progress, warn } from '../output/terminal.ts';
import { lineAt, SqlSplitError, type SqlStatement, splitSql } from './split-sql.ts';
import { findMissingPart, type MissingPart, mentionsPlatform, supabaseExtensions } from './supabase.ts';

export interface SqlFile {
  readonly name: string;
  readonly text: string;
}

/** A statement that was skipped, and what it needs. */
interface Skipped {
  readonly line: number;
  readonly description: string;
}

const resetSession = 'reset session authorization; reset role; reset all';

/** Runs the files in order, each in a session without settings. Warns of statements that were skipped. */
export async function loadSql(pglite: PGlite, files: readonly SqlFile[], progress: Progress): Promise<void> {
  await pglite.exec(resetSession);
  for (const file of files) {
    const statements = split(file);
    const skipped: Skipped[] = [];
    let done = 0;
    const run = async (): Promise<void> => {
      for (const statement of statements) {
        const part = await runStatement(pglite, file, statement);
        if (part !== null) skipped.push({ line: lineAt(file.text, statement.offset), description: part.description });
        done += 1;
      }
    };
    await progress.step(`Loading ${file.name}`, run, { describeState: () => `${done} of ${statements.length} statements` });
    if (pglite.isInTransaction()) throw new CommandError(`${file.name}: a transaction is still open at the end; add "commit;"`, 1);
    await pglite.exec(resetSession);
    for (const text of describeSkipped(skipped)) warn(`${file.name}: ${text}`);
  }
}

function describeSkipped(skipped: readonly Skipped[]): string[] {
  return [...Map.groupBy(skipped, ({ description }) => description)].map(([description, statements]) => {
    const lines = statements.map(({ line }) => line).join(', ');
    return `skipped ${statements.length === 1 ? 'line' : 'lines'} ${lines}, because the embedded database has no ${description}`;
  });
}

function split(file: SqlFile): SqlStatement[] {
  try {
    return splitSql(file.text);
  } catch (error) {
    if (error instanceof SqlSplitError) throw failure(file, error.offset, error.message);
    throw error;
  }
}

/** The roles of requests, the exposed schemas and those of Supabase exist before the files are loaded: of these, such errors are ignored. */
const duplicates: ReadonlySet<string | undefined> = new Set(['42P06', '42710']);
const plainCreation = /^create\s+(schema\s+("[^"]+"|\w+)(\s+authorization\s+\S+)?$|(role|user)\s)/i;

/** Resolves to the missing part for which the statement was skipped, or null if it ran. */
async function runStatement(pglite: PGlite, file: SqlFile, statement: SqlStatement): Promise<MissingPart | null> {
  const { text, copyData } = statement;
  const isGuarded = pglite.isInTransaction() && (mentionsPlatform(text) || plainCreation.test(text));
  try {
    if (isGuarded) await pglite.exec('savepoint rowgraph');
    await (copyData === null ? pglite.exec(text) : copy(pglite, text, copyData));
    if (isGuarded) await pglite.exec('release rowgraph');
    return null;
  } catch (error) {
    const { code, message, position, detail, hint } = error as PostgresError;
    const part = findMissingPart(text, message);
    const isThere = duplicates.has(code) && plainCreation.test(text);
    if ((part?.isDispensable || isThere) && (isGuarded || !pglite.isInTransaction())) {
      if (isGuarded) await pglite.exec('rollback to rowgraph; release rowgraph');
      return part;
    }
    const offset = statement.offset + offsetOf(text, Number(position ?? 1));
    const remedy =
      part && `the embedded database has no ${part.description}. Remove the statement, or serve a PostgreSQL database that has it.`;
    throw failure(file, offset, [message, detail, remedy ?? hint].filter(Boolean).join('; '), error);
  }
}

/** PGlite reads the rows of a COPY from a file with this name. */
function copy(pglite: PGlite, text: string, rows: string): Promise<Results> {
  return pglite.query(text.replace(/\bfrom\s+stdin\b/i, "from '/dev/blob'"), [], { blob: new Blob([rows]) });
}

/** The fields of PostgreSQL's errors that PGlite's have. */
interface PostgresError {
  readonly code?: string;
  readonly message: string;
  /** In characters, from 1. */
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

/** Names of the extensions that the files create, or take for granted because they were written for Supabase. */
export function findExtensions(files: readonly SqlFile[]): string[] {
  const text = textOf(files);
  const pattern = /\bcreate\s+extension\s+(?:if\s+not\s+exists\s+)?"?([a-z0-9_-]+)"?/gi;
  const created = [...text.matchAll(pattern)].map(([, name = '']) => name.toLowerCase());
  return [...new Set([...created, ...supabaseExtensions(text)])];
}

/** All files as one text. */
export function textOf(files: readonly SqlFile[]): string {
  return files.map(({ text }) => text).join('\n');
}

/** The extensions in the form that PGlite takes. If it lacks one, PostgreSQL itself will report that. */
export async function importExtensions(names: readonly string[]): Promise<Extensions> {
  const found = await Promise.all(names.map(importExtension));
  return Object.assign({}, ...found) as Extensions;
}

/** The extensions of PostgreSQL's contrib come with PGlite; others are separate packages, of which rowgraph installs pgvector. */
async function importExtension(name: string): Promise<Extensions> {
  const packages = [
    `@electric-sql/pglite/contrib/${name.replaceAll('-', '_')}`,
    `@electric-sql/pglite-${name === 'vector' ? 'pgvector' : name}`,
  ];
  for (const specifier of packages) {
    try {
      return (await import(specifier)) as Extensions;
    } catch {
      // It may be under the next name.
    }
  }
  return {};
}
