/**
 * Puts small modules of ours, or such that are loaded when they are needed, where GraphiQL has large packages: a plugin for esbuild. It leans on the names of
 * GraphiQL's modules; where a later version has others, the bundle works and is larger, and `test/contracts/graphiql.test.ts` fails.
 */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Plugin } from 'esbuild';

const page = path.join(import.meta.dirname, 'page');
/** The icons of the editor: half of all styles where it stands in them. Browsers load it when an icon is shown. */
export const iconFont = 'monaco-editor/esm/vs/base/browser/ui/codicons/codicon/codicon.ttf';

/** A line of the help for keys, of a part of the editor that is not there. */
export const commandPalette = /"Open the Command Palette[^"]*": "F1",/;

export const textFonts = /@font-face\s*\{[^}]*(?:Roboto|Fira Code)[^}]*\}/g;
export const inlinedIcons = /url\("?data:font\/ttf;base64,[^)]*\)/g;

interface Replacement {
  /** What is imported, by which module. */
  readonly imported: RegExp;
  readonly importer: RegExp;
  /** A module of the page. */
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
  /** The module of that package, beside its first one. */
  readonly to: string;
}

/** The first module of a package leads to all others, whatever is taken of it. */
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

/** Without the fonts for text, which are larger than all other styles: the page has those of the system. */
function lighten(styles: string): string {
  return styles.replace(textFonts, '').replace(inlinedIcons, `url("${iconFont}")`);
}
