/**
 * The files of the extension for a PostgreSQL server's folder `extension` (https://www.postgresql.org/docs/current/extend-extensions.html).
 */
import { currentVersion, extensionVersions } from './extension-versions.ts';

/**
 * The script creates its own schema, so that dropping the extension drops it too; nothing is created in `pg_catalog`. Event triggers need a
 * superuser.
 */
const controlFile = `comment = 'Schema version and idempotency keys for rowgraph'
default_version = '${currentVersion}'
schema = pg_catalog
relocatable = false
superuser = true
`;

/** The usual guard of extension scripts: psql stops at this line, which `create extension` ignores. */
const onlyAsExtension = (command: string): string => `\\echo Use "${command}" to load this file. \\quit\n`;

/** File contents by name. PostgreSQL chains the update scripts to get from the first version to any other. */
export function extensionFiles(): ReadonlyMap<string, string> {
  const scripts = extensionVersions.map(({ version, script }, index): [string, string] => {
    const previous = extensionVersions[index - 1]?.version;
    return previous === undefined
      ? [`rowgraph--${version}.sql`, onlyAsExtension('CREATE EXTENSION rowgraph') + script]
      : [`rowgraph--${previous}--${version}.sql`, onlyAsExtension('ALTER EXTENSION rowgraph UPDATE') + script];
  });
  return new Map([['rowgraph.control', controlFile], ...scripts]);
}
