/** Starts `rowgraph dev`, reads what it prints, and asks its API. */
import path from 'node:path';
import { saveSnapshot } from '../../src/cli/dev/open-pglite.ts';
import { initialisedState } from '../support/pglite.ts';
import { makeFolder, type RunningCommand, startCommand } from './run-command.ts';

/** What it prints, by its label; and the line to paste. */
export interface Printed {
  readonly command: RunningCommand;
  readonly facts: Readonly<Record<string, string>>;
  readonly curl: string;
  readonly text: string;
}

/** A folder for one test file, as after a first start of `dev`: it has the initialised database that takes seconds to make. */
export async function makeDevFolder(): Promise<string> {
  const home = await makeFolder();
  await saveSnapshot(path.join(home, 'cache/rowgraph'), 'empty', await initialisedState());
  return home;
}

/** Resolves when it is ready. */
export async function startDev(home: string, ...commandArguments: string[]): Promise<Printed> {
  const command = startCommand(['dev', '--port', '0', ...commandArguments], { home });
  const text = await command.waitFor(/Ctrl-C stops/);
  const facts = Object.fromEntries([...text.matchAll(/^ {2}([\w ]+): +(\S+)$/gm)].map(([, name, value]) => [name, value]));
  return { command, facts, curl: /^ {2}(curl .+)$/m.exec(text)?.[1] ?? '', text };
}

export interface Answer {
  readonly data?: Record<string, unknown>;
  readonly errors?: readonly { readonly message: string }[];
}

/** Sends a query with one of the printed keys, or with a token beside the anonymous one. */
export async function ask({ facts }: Printed, query: string, key = 'anon key', token?: string): Promise<Answer> {
  const response = await fetch(facts['GraphQL URL'] ?? '', {
    method: 'POST',
    headers: {
      apiKey: facts[key] ?? '',
      'content-type': 'application/json',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify({ query }),
  });
  return (await response.json()) as Answer;
}

/** What the page's backend answers, asked as the page does. */
export async function askBackend({ facts }: Printed, name: string, body: unknown): Promise<{ status: number; answer: unknown }> {
  const page = facts['GraphiQL URL'] ?? '';
  const headers = { origin: new URL(page).origin, 'content-type': 'application/json' };
  const response = await fetch(`${page}/${name}`, { method: 'POST', headers, body: JSON.stringify(body) });
  return { status: response.status, answer: await response.json() };
}
