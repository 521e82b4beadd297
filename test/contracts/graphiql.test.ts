/**
 * What the page needs of GraphiQL beyond its documentation: the names of its elements and themes, and the fonts in its styles. Without them the
 * page works, and is larger or harder to read.
 */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { iconFont, inlinedIcons, textFonts } from '../../graphiql/bundle.ts';
import { contract } from './contract.ts';

const packages = path.join(import.meta.dirname, '../../node_modules');
const read = (file: string): string => readFileSync(path.join(packages, file), 'utf8');

contract('graphiql', '../graphiql/bundle.ts', 'its styles hold fonts, which are left out', () => {
  const styles = read('graphiql/dist/style.css');
  assert.match(styles, textFonts);
  assert.match(styles, inlinedIcons);
  assert.ok(existsSync(path.join(packages, iconFont)));
});

contract('graphiql', '../graphiql/page', 'its elements and the themes of the editor have these names', () => {
  const modules = globSync('{graphiql,@graphiql/react}/dist/**/*.js', { cwd: packages }).map(read).join('\n');
  for (const name of ['graphiql-tabs', 'graphiql-tab-button', 'graphiql-session', 'graphiql-DARK', 'graphiql-LIGHT'])
    assert.match(modules, new RegExp(`["'\`]${name}["'\` ]`), name);
});

contract('graphiql', '../graphiql/page/rail.tsx', 'the buttons of its sidebar, which the rail presses, have these marks', () => {
  const sidebar = read('graphiql/dist/ui/sidebar.js');
  for (const mark of ['"graphiql-sidebar"', '"data-index": index', '"data-value": "short-keys"', '"data-value": "settings"'])
    assert.ok(sidebar.includes(mark), mark);
});

contract('graphiql', '../graphiql/page/editor-tabs.ts', 'it keeps its tabs under this name', () => {
  assert.match(read('@graphiql/react/dist/constants.js'), /tabs: "tabState"/);
  assert.match(read('@graphiql/toolkit/dist/esm/storage/base.js'), /STORAGE_NAMESPACE = "graphiql"/);
});
