/**
 * Reads projects from a JSON file, or from all JSON files in a folder: `{"reference": {settings}}`. In: a path, and the result of the last
 * read; out: the entries by reference. A broken file or entry does not affect the others, and keeps its last valid content.
 */
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { readJson } from '../auth/api-keys.ts';
import { isJsonObject, quote } from '../errors/api-error.ts';
import { readTextFile } from '../files/watched-files.ts';
import { isReference } from './project-reference.ts';

/** The settings of a project, as JSON text. */
export interface ProjectEntry {
  readonly text: string;
  /** Paths in it are relative to the folder of this file. */
  readonly file: string;
}

/** The content of the files. */
export interface ProjectEntries {
  readonly byReference: ReadonlyMap<string, ProjectEntry>;
  /** The problems of files and entries. */
  readonly problems: readonly string[];
}

/** In bytes. */
export const mostFileBytes = 16 * 1024 ** 2;
const mostFiles = 20_000;

/** The files at a path: the file itself, or the JSON files in the folder, which may be empty. */
export async function listProjectFiles(location: string): Promise<readonly string[]> {
  if (!(await stat(location)).isDirectory()) return [location];
  const names = (await readdir(location)).filter((name) => name.endsWith('.json') && !name.startsWith('.')).sort();
  if (names.length > mostFiles) throw new Error(`${location} has ${names.length} files; at most ${mostFiles} are read`);
  return names.map((name) => path.join(location, name));
}

/** The entries. Rejects with an `Error` if the path cannot be read; `before` is the result of the last read. */
export async function readProjectFiles(location: string, before: ProjectEntries | null): Promise<ProjectEntries> {
  const known = before?.byReference ?? new Map<string, ProjectEntry>();
  const byReference = new Map<string, ProjectEntry>();
  const problems: string[] = [];
  for (const file of await listProjectFiles(location)) {
    let members: ReadonlyMap<string, ProjectEntry>;
    try {
      members = parseEntries(file, await readTextFile(file, mostFileBytes), problems);
    } catch (error) {
      problems.push((error as Error).message);
      members = new Map([...known].filter(([, entry]) => entry.file === file));
    }
    for (const [reference, entry] of members) {
      const other = byReference.get(reference);
      if (other === undefined) byReference.set(reference, entry);
      else {
        problems.push(`${file}: ${quote(reference)} is in ${other.file}, too; remove one of them`);
        // The reference occurs in several files. Nobody can tell which is meant, but one of them may be in use already.
        if (known.get(reference)?.file === file) byReference.set(reference, entry);
      }
    }
  }
  return { byReference, problems };
}

function parseEntries(file: string, text: string, problems: string[]): ReadonlyMap<string, ProjectEntry> {
  const entries = new Map<string, ProjectEntry>();
  for (const [reference, entry] of Object.entries(parseProjectFile(file, text))) {
    if (isReference(reference)) entries.set(reference, { text: JSON.stringify(entry), file });
    else problems.push(`${file}: ${quote(reference)} is not a reference; use 20 lower-case letters and digits`);
  }
  return entries;
}

/** The members of a file. Throws an `Error` that says where it is broken but repeats none of its content, which contains secrets. */
export function parseProjectFile(file: string, text: string): Readonly<Record<string, unknown>> {
  let content: unknown;
  try {
    content = readJson(text);
  } catch (error) {
    throw new Error(`${file} ${(error as Error).message}`);
  }
  if (!isJsonObject(content)) throw new Error(`${file} must hold a JSON object of references and projects`);
  return content;
}
