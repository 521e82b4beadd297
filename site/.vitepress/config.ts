/** How VitePress makes the documentation a site. The pages stay where they are, so that their links lead to the same files on the site and in the repository. */
import { cpSync, existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig, type MarkdownRenderer } from 'vitepress';
import { sidebar } from '../navigation.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
/** Files that pages link to and that are no pages; they go into the site as they are. */
const files = new Set<string>();

/** Makes links to files that are no pages work. A link to one that does not exist is left alone, and so a dead one that ends the build. */
function linkFiles(markdown: MarkdownRenderer): void {
  markdown.core.ruler.push('files', ({ tokens, env }) => {
    const links = tokens.flatMap(({ children }) => children ?? []).filter(({ type }) => type === 'link_open');
    for (const link of links) {
      const target = link.attrGet('href') ?? '';
      if (/^(?:[a-z]+:|#)/.test(target)) continue;
      const file = path.resolve(path.dirname(env.path as string), target.replace(/#.*$/, ''));
      // What the README is in the repository, the first page is on the site.
      if (file === path.join(root, 'README.md')) link.attrSet('href', target.replace('README.md', 'index.md'));
      if (file.endsWith('.md')) continue;
      if (!existsSync(file)) continue;
      files.add(path.relative(root, file));
      // VitePress neither checks nor follows such a link.
      link.attrSet('download', '');
    }
  });
}

/** Shows code that is indented like code between fences. */
function fenceCode(markdown: MarkdownRenderer): void {
  markdown.core.ruler.push('fences', ({ tokens }) => {
    for (const token of tokens.filter(({ type }) => type === 'code_block')) Object.assign(token, { type: 'fence', info: 'txt' });
  });
}

/** What GitHub calls a heading, as links between the pages expect. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');
}

/** Pages are outside of this folder, where there is no Vue: when VitePress renders them, Node loads the one that VitePress itself uses. */
const vueOfThisFolder = {
  name: 'vue-of-this-folder',
  enforce: 'pre' as const,
  resolveId: (id: string, _importer: string | undefined, { ssr }: { ssr?: boolean }) =>
    ssr && /^vue(?:\/|$)/.test(id) ? { id, external: true as const } : null,
};

export default defineConfig({
  title: 'rowgraph',
  description: 'A GraphQL API for your PostgreSQL: one statement and one round trip for each request.',
  lang: 'en',
  srcDir: root,
  srcExclude: [
    'README.md',
    '{src,build,graphiql,deploy,dist}/**',
    'site/{.vitepress,node_modules}/**',
    'test/!(conformance)/**',
    'test/*.md',
    'bench/.work/**',
    '**/node_modules/**',
  ],
  rewrites: { 'site/index.md': 'index.md' },
  lastUpdated: false,
  markdown: {
    config(markdown) {
      linkFiles(markdown);
      fenceCode(markdown);
    },
    anchor: { slugify: anchorOf },
  },
  themeConfig: {
    search: { provider: 'local' },
    nav: [
      { text: 'Tour', link: '/docs/tour' },
      { text: 'API', link: '/docs/api' },
      { text: 'Settings', link: '/docs/settings' },
      { text: 'Changes', link: '/CHANGELOG' },
    ],
    sidebar: sidebar(),
    outline: [2, 3],
  },
  vite: { plugins: [vueOfThisFolder] },
  buildEnd({ outDir }) {
    // Pictures that pages show by tags of HTML are not known to VitePress.
    for (const file of [...files, 'docs/images']) cpSync(path.join(root, file), path.join(outDir, file), { recursive: true });
  },
});
