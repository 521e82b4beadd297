/**
 * Leaves out of the bundle what the page never shows of Monaco, the editor: half of its parts, such as comparing texts, colour pickers and inline suggestions of
 * machines. A plugin for esbuild. It leans on the names of Monaco's own modules; where a later version has others, the bundle works and is larger, and
 * `npm run test:page` fails for its size.
 */
import { readFile } from 'node:fs/promises';
import type { Plugin } from 'esbuild';

/** Modules that only register a part of the editor. */
const unused = [
  'diffEditor',
  'diffEditorBreadcrumbs',
  'anchorSelect',
  'transpose',
  'codeAction',
  'codelens',
  'colorPicker',
  'dnd',
  'documentSymbols',
  'dropOrPasteInto',
  'fontZoom',
  'gotoError',
  'goToCommands',
  'inPlaceReplace',
  'inlayHints',
  'inlineCompletions',
  'inlineEdit',
  'inlineEdits',
  'inlineProgress',
  'inspectTokens',
  'linkedEditing',
  'quickAccess',
  'readOnlyMessage',
  'referenceSearch',
  'rename',
  'sectionHeaders',
  'semanticTokens',
  'stickyScroll',
  'suggestInlineCompletions',
  'toggleHighContrast',
  'unicodeHighlighter',
  'unusualLineTerminators',
];
const unusedImport = new RegExp(`^import '\\./[^']*/(?:${unused.join('|')})(?:/[^']*|\\.js)';$`, 'gm');

/** Widgets that compare texts, which the editor refers to without ever making one here. */
const widgets =
  /monaco-editor\/esm\/vs\/editor\/browser\/widget\/(?:diffEditor\/diffEditorWidget|multiDiffEditor\/multiDiffEditorWidget)\.js$/;

export const editorParts: Plugin = {
  name: 'only the parts of the editor that the page shows',
  setup({ onLoad }) {
    onLoad({ filter: /monaco-editor\/esm\/vs\/editor\/(?:editor\.all|edcore\.main)\.js$/ }, async ({ path }) => ({
      contents: (await readFile(path, 'utf8')).replace(unusedImport, ''),
      loader: 'js',
    }));
    onLoad({ filter: widgets }, () => ({ contents: 'export class DiffEditorWidget {}\nexport class MultiDiffEditorWidget {}\n' }));
  },
};
