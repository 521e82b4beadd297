/** What every program is given: where rowgraph is, and what to send. */
import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';

/** The endpoint with the names of pg_graphql, and the one whose global identifier is `id`. */
export const { URL: url, ID_URL: idUrl } = process.env;
export const headers = { apiKey: process.env.KEY, 'content-type': 'application/json' };
/** This folder. */
export const folder = import.meta.dirname;
/** What a program has sent, where it writes it down. */
export const requests = [];

/** An empty folder for what is generated. */
export function makeFolder(name) {
  const made = path.join(folder, '../generated', name);
  rmSync(made, { recursive: true, force: true });
  mkdirSync(made, { recursive: true });
  return made;
}
