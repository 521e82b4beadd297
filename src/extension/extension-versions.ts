/** The versions of the extension, each with the SQL that updates the previous one. Released versions never change. */
import { idempotencyKeyScript } from './idempotency-key-script.ts';
import { keyStorageScript } from './key-storage-script.ts';
import { recentChangeScript } from './recent-change-script.ts';
import { schemaVersionScript } from './schema-version-script.ts';

export interface ExtensionVersion {
  readonly version: string;
  readonly script: string;
}

export const extensionVersions: readonly [ExtensionVersion, ...ExtensionVersion[]] = [
  { version: '1.0', script: schemaVersionScript },
  { version: '1.1', script: idempotencyKeyScript },
  { version: '1.2', script: keyStorageScript },
  { version: '1.3', script: recentChangeScript },
];

/** The version that this release of rowgraph installs. */
export const currentVersion = extensionVersions.at(-1)!.version;

/** The first version that keeps idempotency keys. */
export const firstVersionWithKeys = '1.1';

/** Whether a version, such as `1.9`, is older than another, such as `1.10`. */
export function isOlder(version: string, other: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [otherMajor = 0, otherMinor = 0] = other.split('.').map(Number);
  return major < otherMajor || (major === otherMajor && minor < otherMinor);
}
