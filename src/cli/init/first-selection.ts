/** What the first query selects: rows of a table that the anonymous role may read. */
import { createRowgraph } from '../../index.ts';
import { checkDatabase, connectOnce } from '../check-database.ts';
import type { Environment } from '../config.ts';
import { chooseSampleQuery } from '../dev/sample-operations.ts';
import type { Progress } from '../output/terminal.ts';

interface Roles {
  readonly schemas: readonly string[];
  readonly anonRole: string;
}

interface FirstSelection {
  /** In braces. */
  readonly selection: string;
  /** As whom types are made: `authenticated`, or the anonymous role if requests cannot run as that. */
  readonly typesRole: string;
}

/** Rejects with `CommandError` if the database cannot be used. Changes nothing in it. */
export async function selectFromDatabase(databaseUrl: string, { schemas, anonRole }: Roles): Promise<FirstSelection> {
  await checkDatabase({ databaseUrl, schemas, role: anonRole, roleFlag: '--anon-role' });
  const text =
    "select exists (select from pg_roles where rolname = 'authenticated' and pg_has_role(session_user, oid, 'member')) as has_it";
  const hasRole = await connectOnce(
    databaseUrl,
    async (client) => (await client.query<{ has_it: boolean }>(text)).rows[0]?.has_it === true,
  );
  const graph = await createRowgraph({ database: databaseUrl, schemas, introspection: 'on', poolSize: 1, observe: () => undefined });
  try {
    return { selection: await chooseSampleQuery(graph, anonRole), typesRole: hasRole ? 'authenticated' : anonRole };
  } finally {
    await graph.close();
  }
}

/** Loads the file into an embedded database. Rejects with `CommandError` if its SQL fails. */
export async function selectFromFile(
  file: string,
  { schemas, anonRole }: Roles,
  environment: Environment,
  progress: Progress,
): Promise<FirstSelection> {
  const { openEmbeddedDatabase } = await import('../dev/embedded-database.ts');
  const none = { jwtSecret: undefined, dataDir: undefined, cacheDir: undefined };
  const database = await openEmbeddedDatabase({ ...none, schemas, anonRole, environment, sqlFiles: [file], progress });
  try {
    const graph = await createRowgraph({ database: database.pglite, schemas, introspection: 'on', observe: () => undefined });
    try {
      return { selection: await chooseSampleQuery(graph, anonRole), typesRole: 'authenticated' };
    } finally {
      await graph.close();
    }
  } finally {
    await database.close();
  }
}
