/** The versions of the extension, each with the SQL that updates the previous one. Released versions never change. */
import { idempotencyKeyScript, keyStorageScript } from './idempotency-key-scripts.ts';
import { liveScript } from './live-scripts.ts';
import { recentChangeScript, schemaVersionScript } from './schema-version-scripts.ts';

interface ExtensionVersion {
  readonly version: string;
  readonly script: string;
}

export const extensionVersions: readonly [ExtensionVersion, ...ExtensionVersion[]] = [
  { version: '1.0', script: schemaVersionScript },
  { version: '1.1', script: idempotencyKeyScript },
  { version: '1.2', script: keyStorageScript },
  { version: '1.3', script: recentChangeScript },
  { version: '1.4', script: liveScript },
];

export const currentVersion = extensionVersions.at(-1)!.version;

/** The first version that keeps idempotency keys. */
export const firstVersionWithKeys = '1.1';

/** Whether a version, such as `1.9`, is older than another, such as `1.10`. */
export function isOlder(version: string, other: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [otherMajor = 0, otherMinor = 0] = other.split('.').map(Number);
  return major < otherMajor || (major === otherMajor && minor < otherMinor);
}

/**
 * The script creates its own schema, so that dropping the extension drops it too; nothing is created in `pg_catalog`. Event triggers need a
 * superuser.
 */
const controlFile = `comment = 'Schema version, idempotency keys and live queries for rowgraph'
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
