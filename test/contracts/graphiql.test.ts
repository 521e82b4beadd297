/**
 * What the page needs of GraphiQL and Monaco, its editor, beyond their documentation: the names of their modules, and of the elements and themes that
 * they make. Without them the page works, and is larger or harder to read.
 */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { lookAlikes, standIns, unused } from '../../graphiql/editor-parts.ts';
import { commandPalette, iconFont, inlinedIcons, narrowings, replacements, textFonts } from '../../graphiql/page-parts.ts';
import { contract } from './contract.ts';

const packages = path.join(import.meta.dirname, '../../node_modules');
const read = (file: string): string => readFileSync(path.join(packages, file), 'utf8');
const editor = 'monaco-editor/esm/vs';

/** The modules that a module imports. */
function importsOf(file: string): readonly string[] {
  return [...read(file).matchAll(/(?:\bfrom|\bimport\(|^import)\s*["']([^"']+)["']/gm)].map(([, name]) => name!);
}

contract('monaco-editor', '../graphiql/editor-parts.ts', 'the parts that are left out are imported under these names', () => {
  const imported = ['editor/editor.all.js', 'editor/edcore.main.js'].flatMap((file) => importsOf(`${editor}/${file}`));
  for (const name of unused)
    assert.ok(
      imported.some((module) => new RegExp(`/${name}(/|\\.js$)`).test(module)),
      name,
    );
});

contract('monaco-editor', '../graphiql/editor-parts.ts', 'the modules that others stand for, and what those import, are there', () => {
  for (const [name, text] of Object.entries(standIns)) {
    assert.ok(existsSync(path.join(packages, editor, `${name}.js`)), name);
    for (const [, imported = ''] of text.matchAll(/from '([^']+)'/g))
      assert.ok(existsSync(path.join(packages, editor, path.dirname(name), imported)), `${name}: ${imported}`);
  }
  assert.match(read(`${editor}/base/common/strings.js`), lookAlikes);
});

contract('graphiql', '../graphiql/page-parts.ts', 'large modules are imported by these modules, under these names', () => {
  const modules = globSync('{graphiql,@graphiql/{react,plugin-doc-explorer}}/dist/**/*.js', { cwd: packages });
  for (const { imported, importer } of replacements)
    assert.ok(
      modules.some((file) => importer.test(file) && importsOf(file).some((name) => imported.test(name))),
      String(imported),
    );
  for (const { imported, to } of narrowings) assert.ok(existsSync(path.join(packages, imported, 'dist', to)), `${imported}/dist/${to}`);
  assert.ok(importsOf('monaco-graphql/esm/GraphQLWorker.js').includes('prettier/parser-graphql'));
});

contract('graphiql', '../graphiql/page-parts.ts', 'its styles hold fonts, and its help for keys a line of a part that is left out', () => {
  const styles = read('graphiql/dist/style.css');
  assert.match(styles, textFonts);
  assert.match(styles, inlinedIcons);
  assert.ok(existsSync(path.join(packages, iconFont)));
  assert.match(read('graphiql/dist/ui/short-keys.js'), commandPalette);
});

contract('graphiql', '../graphiql/page', 'its elements and the themes of the editor have these names', () => {
  const modules = globSync('{graphiql,@graphiql/react}/dist/**/*.js', { cwd: packages }).map(read).join('\n');
  for (const name of ['graphiql-tabs', 'graphiql-tab-button', 'graphiql-session', 'graphiql-DARK', 'graphiql-LIGHT'])
    assert.match(modules, new RegExp(`["'\`]${name}["'\` ]`), name);
});
