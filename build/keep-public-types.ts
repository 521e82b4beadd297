/**
 * Keeps only those declarations in `dist` that the package exports or that these refer to: no others can be imported. Fails if one of them
 * needs the types of another package, which users would have to install.
 */
import { globSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';

const folder = path.join(import.meta.dirname, '../dist');
const { exports } = JSON.parse(readFileSync(path.join(folder, '../package.json'), 'utf8')) as {
  exports: Record<string, { types: string }>;
};
const kept = new Set(Object.values(exports).map(({ types }) => path.join(folder, '..', types)));
/** Modules whose types every user has: a dependency that brings its own, and Node's for those who pass it Node's requests. */
const installed = ['node:http', 'graphql'];
// Grows during the iteration.
for (const file of kept) {
  for (const [, target = ''] of readFileSync(file, 'utf8').matchAll(/\b(?:from |import\()'([^']+)'/g)) {
    if (installed.includes(target)) continue;
    if (!target.startsWith('.'))
      throw new Error(`${path.relative(folder, file)} needs the types of ${target}: describe what is needed of them.`);
    kept.add(path.join(path.dirname(file), target.replace(/\.ts$/, '.d.ts')));
  }
}
for (const file of globSync('**/*.d.ts', { cwd: folder })) if (!kept.has(path.join(folder, file))) rmSync(path.join(folder, file));
