/** What `rowgraph init` finds in a folder: which kind of project it is, and what it is run with. */
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { CommandError, describeFileError } from '../command-error.ts';

/** `plain`: Node alone runs the program. */
export type ProjectKind = 'plain' | 'vite' | 'next';
type PackageManager = 'npm' | 'pnpm' | 'yarn' | 'bun';

/** The members of package.json that matter here. */
export interface Manifest {
  readonly name?: string;
  readonly type?: string;
  readonly main?: string;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

export interface Project {
  readonly folder: string;
  readonly kind: ProjectKind;
  readonly packageManager: PackageManager;
  /** Null if there is no package.json. */
  readonly manifest: Manifest | null;
  /** Where the program's own files are, relative to the folder: `src`, or `.` in a Next app without that folder. */
  readonly sources: string;
  /** The folder of Next's app router, relative to the folder; null if there is none. */
  readonly appRouter: string | null;
  /** The file with the options of the compiler; null if there is none. */
  readonly tsconfig: string | null;
}

/** Throws `CommandError` if package.json cannot be read. */
export function readProject(folder: string, userAgent: string | undefined): Project {
  const has = (...names: readonly string[]): boolean => names.some((name) => existsSync(join(folder, name)));
  const manifest = readManifest(folder);
  const packages = { ...manifest?.dependencies, ...manifest?.devDependencies };
  const kind = kindOf(packages, has);
  // In Next, `src` is optional: the app router may be in the folder itself.
  const sources = kind === 'next' && !has('src') ? '.' : 'src';
  const appRouter = [join(sources, 'app')].find((name) => has(name)) ?? null;
  return {
    folder,
    kind,
    packageManager: packageManagerOf(has, userAgent),
    manifest,
    sources,
    appRouter: kind === 'next' ? appRouter : null,
    // The templates of Vite split the options; this file has those of the program.
    tsconfig: ['tsconfig.app.json', 'tsconfig.json'].find((name) => has(name)) ?? null,
  };
}

function readManifest(folder: string): Manifest | null {
  const file = join(folder, 'package.json');
  if (!existsSync(file)) return null;
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch (error) {
    throw new CommandError(`package.json cannot be read: ${describeFileError(error)}`, 2, error);
  }
  throw new CommandError('package.json must hold a JSON object', 2);
}

function kindOf(packages: Readonly<Record<string, string>>, has: (...names: readonly string[]) => boolean): ProjectKind {
  if ('next' in packages) return 'next';
  return 'vite' in packages || has('vite.config.ts', 'vite.config.js', 'vite.config.mjs') ? 'vite' : 'plain';
}

/** By the lock file, or else by what runs this command. */
function packageManagerOf(has: (...names: readonly string[]) => boolean, userAgent = ''): PackageManager {
  if (has('pnpm-lock.yaml', 'pnpm-workspace.yaml')) return 'pnpm';
  if (has('yarn.lock', '.yarnrc.yml')) return 'yarn';
  if (has('bun.lock', 'bun.lockb')) return 'bun';
  if (has('package-lock.json')) return 'npm';
  return (['pnpm', 'yarn', 'bun'] as const).find((name) => userAgent.startsWith(`${name}/`)) ?? 'npm';
}

/** A name for a new package.json, made of the folder's. */
export function packageNameOf(folder: string): string {
  const name = basename(folder)
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .replace(/^[._-]+/, '');
  return name === '' ? 'app' : name;
}

/** The command that installs the packages, and the one that runs a script. */
export function commandsOf(packageManager: PackageManager): { readonly install: string; readonly run: string } {
  return { install: packageManager === 'yarn' ? 'yarn' : `${packageManager} install`, run: `${packageManager} run` };
}

/** Whether the project's TypeScript is written in Go (7 and later), which has not the interface that tools of former versions use. */
export function hasNativeTypeScript({ manifest }: Project): boolean {
  const range = { ...manifest?.dependencies, ...manifest?.devDependencies }.typescript ?? '';
  return range === 'latest' || Number(/\d+/.exec(range)?.[0] ?? 0) >= 7;
}
