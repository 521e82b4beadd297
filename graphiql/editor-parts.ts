/**
 * A plugin for esbuild that leaves out of the bundle what the page never shows of the Monaco editor: half of its parts, such as the diff
 * view, the minimap, quick fixes and the command palette. Relies on the names of Monaco's modules; if a later version renames them, the
 * bundle works but is larger, and `test/contracts/graphiql.test.ts` fails.
 */
import { readFile } from 'node:fs/promises';
import type { Plugin } from 'esbuild';

/** Modules that only register a part of the editor. */
export const unused: readonly string[] = [
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

const none = '{ static get() { return null; } }';

/**
 * Modules that others import but never use here, and their replacements: parts that never show, and services that nobody calls. By their
 * paths in `monaco-editor/esm/vs`.
 */
export const standIns: Readonly<Record<string, string>> = {
  'editor/browser/widget/diffEditor/diffEditorWidget': 'export class DiffEditorWidget {}',
  'editor/browser/widget/multiDiffEditor/multiDiffEditorWidget': 'export class MultiDiffEditorWidget {}',
  'editor/browser/viewParts/minimap/minimap': `import { createFastDomNode } from '../../../../base/browser/fastDomNode.js';
    import { ViewPart } from '../../view/viewPart.js';
    export class Minimap extends ViewPart {
      #node = createFastDomNode(document.createElement('div'));
      getDomNode() { return this.#node; }
      prepareRender() {}
      render() {}
    }`,
  'editor/contrib/codeAction/browser/codeAction': `export const quickFixCommandId = '';
    export const getCodeActions = async () => ({ validActions: [], dispose() {} });`,
  'editor/contrib/codeAction/browser/codeActionController': `export class CodeActionController ${none}`,
  'editor/contrib/colorPicker/browser/colorHoverParticipant': 'export class ColorHoverParticipant {}',
  'editor/contrib/dropOrPasteInto/browser/copyPasteController': `export class CopyPasteController ${none}`,
  'editor/contrib/gotoError/browser/gotoError': `export class MarkerController ${none}
    export class NextMarkerAction {}`,
  'editor/contrib/gotoSymbol/browser/peek/referencesController': `export class ReferencesController ${none}`,
  'editor/contrib/inlayHints/browser/inlayHintsHover': 'export class InlayHintsHover {}',
  'editor/contrib/inlineCompletions/browser/hintsWidget/inlineCompletionsHintsWidget': 'export class InlineSuggestionHintsContentWidget {}',
  'editor/contrib/peekView/browser/peekView': `import { RawContextKey } from '../../../../platform/contextkey/common/contextkey.js';
    const inPeekEditor = new RawContextKey('inReferenceSearchEditor', false);
    export const PeekContext = { inPeekEditor, notInPeekEditor: inPeekEditor.toNegated() };`,
  'editor/common/diff/linesDiffComputers': 'export const linesDiffComputers = {};',
  'editor/common/services/unicodeTextModelHighlighter': 'export class UnicodeTextModelHighlighter {}',
  'editor/standalone/browser/quickInput/standaloneQuickInputService': 'export class StandaloneQuickInputService {}',
  'base/browser/ui/selectBox/selectBox': 'export class SelectBox {}',
  'platform/list/browser/listService': `import { createDecorator } from '../../instantiation/common/instantiation.js';
    export const IListService = createDecorator('listService');
    export class ListService {}`,
};
const standInFilter = new RegExp(`monaco-editor/esm/vs/(?:${Object.keys(standIns).join('|')})\\.js$`);

/** A table of look-alike characters, for a part of the editor that is left out. */
export const lookAlikes = /JSON\.parse\('\{\\"_common\\".*\}'\)/;

export const editorParts: Plugin = {
  name: 'only the parts of the editor that the page shows',
  setup({ onLoad }) {
    onLoad({ filter: /monaco-editor\/esm\/vs\/editor\/(?:editor\.all|edcore\.main)\.js$/ }, async ({ path }) => ({
      contents: (await readFile(path, 'utf8')).replace(unusedImport, ''),
      loader: 'js',
    }));
    onLoad({ filter: /monaco-editor\/esm\/vs\/base\/common\/strings\.js$/ }, async ({ path }) => ({
      contents: (await readFile(path, 'utf8')).replace(lookAlikes, '({ _common: [], _default: [] })'),
      loader: 'js',
    }));
    onLoad({ filter: standInFilter }, ({ path }) => {
      const [, name = ''] = /esm\/vs\/(.*)\.js$/.exec(path) ?? [];
      return { contents: standIns[name] ?? '', loader: 'js' };
    });
  },
};
