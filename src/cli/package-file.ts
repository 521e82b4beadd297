/** What rowgraph's own package.json says: the version, and the packages that only some commands need. */
import { readFileSync } from 'node:fs';
import { CommandError } from './command-error.ts';

interface PackageFile {
  readonly version: string;
  readonly description: string;
  readonly optionalDependencies: Readonly<Record<string, string>>;
}

export function readPackageFile(): PackageFile {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as PackageFile;
}

/** Optional packages that belong together. */
interface OptionalPackages {
  /** How their names begin. */
  readonly prefix: string;
  /** What they are, as the subject of a sentence. */
  readonly subject: string;
  /** What to do without them, to follow a comma; '' if nothing. */
  readonly otherwise: string;
}

export const embeddedPackages: OptionalPackages = {
  prefix: '@electric-sql/',
  subject: 'The embedded PostgreSQL',
  otherwise: ', or use a PostgreSQL of your own: "rowgraph dev --database-url URL"',
};
export const agentPackages: OptionalPackages = {
  prefix: '@modelcontextprotocol/',
  subject: 'The SDK of the Model Context Protocol',
  otherwise: '',
};

/** Throws `CommandError` if one of the packages is missing. */
export function checkPackages(
  { prefix, subject, otherwise }: OptionalPackages,
  resolve: (name: string) => string = import.meta.resolve,
): void {
  const needed = Object.entries(readPackageFile().optionalDependencies).filter(([name]) => name.startsWith(prefix));
  const missing = needed.filter(([name]) => !canResolve(name, resolve));
  if (missing.length === 0) return;
  const packages = missing.map(([name, version]) => `${name}@${version}`).join(' ');
  throw new CommandError(`${subject} is not installed. Run "npm install ${packages}"${otherwise}.`, 1);
}

function canResolve(name: string, resolve: (name: string) => string): boolean {
  try {
    resolve(name);
    return true;
  } catch {
    return false;
  }
}
