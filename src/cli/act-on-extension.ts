/**
 * Performs an action on the extension of a database, as a superuser, and reports the resulting state. A failure becomes one line that says
 * what to change.
 */
import type { Client } from 'pg';
import { type ExtensionState, type Queryable, readExtension } from '../extension/read-extension.ts';
import { CommandError } from './command-error.ts';
import { connectOnce } from './connect-once.ts';

const insufficientPrivilege = '42501';
/** The SQLSTATE of `alter extension … update` if the installed files are too old. */
const noUpdatePath = '22023';

/** `task` is what the login role may lack the privilege for, such as "install event triggers". */
export function actOnExtension(
  databaseUrl: string,
  task: string,
  act: (database: Queryable) => Promise<void> = async () => undefined,
): Promise<ExtensionState> {
  return connectOnce(databaseUrl, async (client) => {
    const database = queryable(client);
    try {
      await act(database);
      return await readExtension(database);
    } catch (error) {
      const { code, message } = error as Error & { readonly code?: string };
      if (code === insufficientPrivilege)
        throw new CommandError(`${client.user} cannot ${task} (${message}); log in as a superuser`, 2, error);
      if (code === noUpdatePath)
        throw new CommandError(`${message}; run "rowgraph extension install" on the machine of the database first`, 2, error);
      throw error;
    }
  });
}

function queryable(client: Client): Queryable {
  const asText = { rowMode: 'array', types: { getTypeParser: () => asItIs } } as const;
  return { query: async (text) => (await client.query<(string | null)[]>({ text, ...asText })).rows };
}

function asItIs(text: string | Buffer): string {
  return String(text);
}
