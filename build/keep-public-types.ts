/**
 * Keeps of the declarations in `dist` only those that `index.d.ts` leads to: no others can be imported from the package. Fails if one of them needs
 * the types of another package, which users would have to install.
 */
import { globSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';

const folder = path.join(import.meta.dirname, '../dist');
const kept = new Set([path.join(folder, 'index.d.ts')]);
// Grows while it is walked.
for (const file of kept) {
  for (const [, target = ''] of readFileSync(file, 'utf8').matchAll(/\b(?:from |import\()'([^']+)'/g)) {
    if (!target.startsWith('.'))
      throw new Error(`${path.relative(folder, file)} needs the types of ${target}: describe what is needed of them.`);
    kept.add(path.join(path.dirname(file), target.replace(/\.ts$/, '.d.ts')));
  }
}
for (const file of globSync('**/*.d.ts', { cwd: folder })) if (!kept.has(path.join(folder, file))) rmSync(path.join(folder, file));
