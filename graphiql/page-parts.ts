/**
 * A plugin for esbuild that replaces large packages of GraphiQL by small modules of ours, or by modules that are loaded on demand. Relies
 * on the names of GraphiQL's modules; if a later version renames them, the bundle works but is larger, and
 * `test/contracts/graphiql.test.ts` fails.
 */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Plugin } from 'esbuild';

const page = path.join(import.meta.dirname, 'page');
/** The editor's icons, which would be half of all styles if they were inlined. Browsers load the file when an icon is shown. */
export const iconFont = 'monaco-editor/esm/vs/base/browser/ui/codicons/codicon/codicon.ttf';

/** A line of the keyboard help, for a part of the editor that is left out. */
export const commandPalette = /"Open the Command Palette[^"]*": "F1",/;

export const textFonts = /@font-face\s*\{[^}]*(?:Roboto|Fira Code)[^}]*\}/g;
export const inlinedIcons = /url\("?data:font\/ttf;base64,[^)]*\)/g;

interface Replacement {
  /** Which import to replace, and in which module. */
  readonly imported: RegExp;
  readonly importer: RegExp;
  /** The replacement, a module of the page. */
  readonly by: string;
}

export const replacements: readonly Replacement[] = [
  { imported: /^framer-motion$/, importer: /@graphiql\/react/, by: 'reorder.tsx' },
  { imported: /\/jsonc\.js$/, importer: /@graphiql\/react\/dist/, by: 'jsonc.ts' },
  { imported: /\/doc-explorer\.js$/, importer: /plugin-doc-explorer\/dist\/context\.js$/, by: 'lazy-documentation.tsx' },
  { imported: /\/markdown(?:-content\/index)?\.js$/, importer: /@graphiql\/react\/dist\/(?:\w+\/)?index\.js$/, by: 'lazy-markdown.tsx' },
];

interface Narrowing {
  readonly imported: string;
  readonly importer: RegExp;
  /** The module of that package to import instead of its index. */
  readonly to: string;
}

/** Importing the index of a package would bundle all of its modules, whatever is used of them. */
export const narrowings: readonly Narrowing[] = [
  { imported: '@graphiql/plugin-doc-explorer', importer: /(?:page\/app\.tsx|graphiql\/dist\/GraphiQL\.js)$/, to: 'context.js' },
  { imported: '@graphiql/react', importer: /page\/lazy-markdown\.tsx$/, to: 'components/markdown-content/index.js' },
];

export const pageParts: Plugin = {
  name: 'small modules where GraphiQL has large ones',
  setup({ onLoad, onResolve, resolve }) {
    for (const { imported, importer, by } of replacements)
      onResolve({ filter: imported }, (asked) => (importer.test(asked.importer) ? { path: path.join(page, by) } : undefined));
    for (const { imported, importer, to } of narrowings)
      onResolve({ filter: new RegExp(`^${imported}$`) }, async ({ path: name, importer: by, resolveDir, kind, pluginData }) => {
        if (pluginData === 'whole' || !importer.test(by)) return undefined;
        const whole = await resolve(name, { resolveDir, kind, pluginData: 'whole' });
        return { ...whole, path: path.join(path.dirname(whole.path), to) };
      });
    // The same parser under two names.
    onResolve({ filter: /^prettier\/parser-graphql$/ }, ({ resolveDir }) =>
      resolve('prettier/plugins/graphql', { resolveDir, kind: 'dynamic-import' }),
    );
    onLoad({ filter: /graphiql\/dist\/ui\/short-keys\.js$/ }, async ({ path: file }) => ({
      contents: (await readFile(file, 'utf8')).replace(commandPalette, ''),
      loader: 'js',
    }));
    onLoad({ filter: /graphiql\/dist\/style\.css$/ }, async ({ path: file }) => ({
      contents: lighten(await readFile(file, 'utf8')),
      loader: 'css',
    }));
  },
};

/** Removes the text fonts, which are larger than all other styles: the page uses the system's. */
function lighten(styles: string): string {
  return styles.replace(textFonts, '').replace(inlinedIcons, `url("${iconFont}")`);
}
