/** What commands share that change or read a database itself, and not its API: their setting, and a connection for as long as they work. */
import type { Client, QueryResult } from 'pg';
import type { Queryable } from '../../extension/install-live.ts';
import { connectOnce } from '../check-database.ts';
import { CommandError } from '../command-error.ts';
import type { CommandSettings } from '../config.ts';

export const databaseSettings: CommandSettings<'databaseUrl', 'databaseUrl'> = {
  names: ['databaseUrl'],
  required: ['databaseUrl'],
  defaults: {},
};

export const insufficientPrivilege = '42501';

/** `task` is what the login role may lack the privilege for, such as "install the extension", and `who` is who may do it. */
export function actOnDatabase<Result>(
  databaseUrl: string,
  task: string,
  who: string,
  act: (database: Queryable) => Promise<Result>,
): Promise<Result> {
  return connectOnce(databaseUrl, async (client) => {
    try {
      return await act(queryable(client));
    } catch (error) {
      const { code, message } = error as Error & { readonly code?: string };
      if (code !== insufficientPrivilege) throw error;
      throw new CommandError(`${client.user} cannot ${task} (${message}); log in as ${who}`, 2, error);
    }
  });
}

/** Runs statements on a connection. */
function queryable(client: Client): Queryable {
  const asText = { rowMode: 'array', types: { getTypeParser: () => asItIs } } as const;
  const run: Queryable['query'] = async (text) => {
    // Of several statements, each has a result.
    const result: QueryResult<(string | null)[]> | QueryResult<(string | null)[]>[] = await client.query({ text, ...asText });
    return Array.isArray(result) ? result.flatMap(({ rows }) => rows) : result.rows;
  };
  return { query: run };
}

function asItIs(text: string | Buffer): string {
  return String(text);
}
