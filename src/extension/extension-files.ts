/** The files of the extension as a PostgreSQL server wants them in its folder `extension` (https://www.postgresql.org/docs/current/extend-extensions.html). */
import { currentVersion, extensionVersions } from './extension-versions.ts';

/**
 * The schema is the script's own, so that it goes with the extension; nothing is made in `pg_catalog`. Event triggers are for superusers.
 */
const controlFile = `comment = 'Schema version and idempotency keys for rowgraph'
default_version = '${currentVersion}'
schema = pg_catalog
relocatable = false
superuser = true
`;

/** psql stops here, where PostgreSQL reads a comment. */
const onlyAsExtension = (command: string): string => `\\echo Use "${command}" to load this file. \\quit\n`;

/** Texts by the names of the files. PostgreSQL itself finds the way from the first version to any other. */
export function extensionFiles(): ReadonlyMap<string, string> {
  const scripts = extensionVersions.map(({ version, script }, index): [string, string] => {
    const previous = extensionVersions[index - 1]?.version;
    return previous === undefined
      ? [`rowgraph--${version}.sql`, onlyAsExtension('CREATE EXTENSION rowgraph') + script]
      : [`rowgraph--${previous}--${version}.sql`, onlyAsExtension('ALTER EXTENSION rowgraph UPDATE') + script];
  });
  return new Map([['rowgraph.control', controlFile], ...scripts]);
}
