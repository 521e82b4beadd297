/**
 * Holds the SQL of each request in `operations/` to the file in `expected/`, so that a change of SQL shows in review. Variables stand in a
 * `.json` of the same name. `npm run golden` writes the files anew.
 */
import assert from 'node:assert/strict';
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, test } from 'node:test';
import { openGoldenCompiler } from './compile-to-sql.ts';

const folder = import.meta.dirname;
const names = globSync('*.graphql', { cwd: path.join(folder, 'operations') })
  .map((file) => path.basename(file, '.graphql'))
  .sort();
const updates = process.argv.includes('--update') || process.env.UPDATE_GOLDEN === '1';
const compiler = await openGoldenCompiler();
after(() => compiler.close());

for (const name of names) {
  test(name, async () => {
    const sql = await compiler.compileToSql({ query: readText('operations', `${name}.graphql`), variables: readVariablesFile(name) });
    for (const statement of sql.split(/;\n\n|;$/)) if (statement !== '') await compiler.analyse(statement);
    if (updates) writeFile(`${name}.sql`, `${sql}\n`);
    else assert.equal(`${sql}\n`, readText('expected', `${name}.sql`));
  });
}

test('every expected file belongs to an operation', () => {
  const files = globSync('*.sql', { cwd: path.join(folder, 'expected') });
  const orphans = files.filter((file) => !names.includes(path.basename(file, '.sql')));
  if (updates) for (const file of orphans) rmSync(path.join(folder, 'expected', file));
  else assert.deepEqual(orphans, []);
});

test('there are enough of them', () => {
  assert.ok(names.length >= 45, `${names.length} operations`);
});

function readText(...parts: string[]): string {
  return readFileSync(path.join(folder, ...parts), 'utf8');
}

function readVariablesFile(name: string): Record<string, unknown> | null {
  const file = path.join(folder, 'operations', `${name}.json`);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>) : null;
}

function writeFile(file: string, text: string): void {
  mkdirSync(path.join(folder, 'expected'), { recursive: true });
  writeFileSync(path.join(folder, 'expected', file), text);
}
