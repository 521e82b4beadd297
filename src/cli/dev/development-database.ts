/** The database that `rowgraph dev` serves: an embedded one, or one of the user's own, in which it changes nothing. */
import { homedir } from 'node:os';
import type { PGlite } from '@electric-sql/pglite';
import { withoutPassword } from '../../settings/database-url.ts';
import { checkDatabase } from '../check-database.ts';
import type { DevelopmentConfiguration } from '../command-settings.ts';
import { type Environment, userCacheFolder } from '../config.ts';
import { readDevelopmentSecret } from './data-folder.ts';
import type { SqlFile } from './load-sql.ts';

/** Runs queries as the login role. */
export interface DatabaseReader {
  query<Row>(text: string, parameters?: unknown[]): Promise<{ readonly rows: Row[] }>;
}

interface OpenedDatabase {
  readonly reader: DatabaseReader;
  readonly jwtSecret: string;
  /** Which database it is, and whether it is kept, for a person to read. */
  readonly content: string;
  /** Closes the database; a data folder keeps its data. */
  close(): Promise<void>;
}

export interface EmbeddedDatabase extends OpenedDatabase {
  readonly kind: 'embedded';
  readonly pglite: PGlite;
  /** Whether it is the example, and not the user's SQL. */
  readonly isExample: boolean;
  /** What was loaded. */
  readonly files: readonly SqlFile[];
}

interface OwnDatabase extends OpenedDatabase {
  readonly kind: 'own';
  readonly url: string;
  readonly login: { readonly role: string; readonly isSuperuser: boolean; readonly bypassesRowSecurity: boolean };
}

export type DevelopmentDatabase = EmbeddedDatabase | OwnDatabase;

/** For each query, and to connect, in milliseconds. */
const patience = 10_000;

/** Rejects with a `CommandError` if the database cannot be reached, or requests could not switch to the anonymous role. */
export async function openOwnDatabase(
  url: string,
  configuration: DevelopmentConfiguration,
  environment: Environment,
): Promise<OwnDatabase> {
  const { schemas, extraSearchPath, anonRole, jwtSecret, cacheDir } = configuration;
  const { login } = await checkDatabase({ databaseUrl: url, schemas, extraSearchPath, role: anonRole, roleFlag: '--anon-role' });
  const { Pool } = (await import('pg')).default;
  const pool = new Pool({
    connectionString: url,
    application_name: 'rowgraph',
    max: 2,
    connectionTimeoutMillis: patience,
    query_timeout: patience,
  });
  // A connection that fails while it is idle is replaced; without a listener it would end the process.
  pool.on('error', () => undefined);
  return {
    kind: 'own',
    url,
    login,
    reader: {
      async query<Row>(text: string, parameters: unknown[] = []) {
        const { rows } = await pool.query(text, parameters);
        return { rows: rows as Row[] };
      },
    },
    jwtSecret: jwtSecret ?? (await readDevelopmentSecret(cacheDir ?? userCacheFolder(environment, process.platform, homedir()))),
    content: withoutPassword(url),
    close: () => pool.end(),
  };
}
