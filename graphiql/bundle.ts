/**
 * Bundles the GraphiQL page into `dist/graphiql`, compressed; `src/http/routes/graphiql-routes.ts` serves it from there. Runs when the package is
 * built, and in a clone after `npm ci` and before `npm start`. Does nothing if the bundle was made from the same sources and packages.
 */
import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';

const compress = promisify(brotliCompress);
const root = path.join(import.meta.dirname, '..');
const folder = path.join(root, 'dist/graphiql');
/** Identifies the sources of the bundle. */
const stampFile = path.join(folder, 'made-of.txt');
const packages = ['graphiql', 'react', 'react-dom', 'esbuild'];

const entryPoints = [
  { in: path.join(import.meta.dirname, 'page/skeleton.css'), out: 'skeleton' },
  { in: path.join(import.meta.dirname, 'page/styles.css'), out: 'page' },
  { in: path.join(import.meta.dirname, 'page/page.ts'), out: 'page' },
  { in: 'monaco-editor/esm/vs/editor/editor.worker.js', out: 'editor.worker' },
  { in: 'monaco-graphql/esm/graphql.worker.js', out: 'graphql.worker' },
  { in: 'monaco-editor/esm/vs/language/json/json.worker.js', out: 'json.worker' },
];

/** The page uses the fonts of the system. */
export const textFonts = /@font-face\s*\{[^}]*(?:Roboto|Fira Code)[^}]*\}/g;
/** Browsers load the file of the editor's icons when one is shown. */
export const inlinedIcons = /url\("?data:font\/ttf;base64,[^)]*\)/g;
export const iconFont = 'monaco-editor/esm/vs/base/browser/ui/codicons/codicon/codicon.ttf';

/**
 * The Brotli quality for a bundle that somebody waits for. The best quality takes ten times as long; it is for the package, which is built
 * once.
 */
const quickQuality = 5;

/**
 * Makes the bundle if it is missing or out of date. `isSmallest` makes it for publication: compressed as far as possible, with the licenses
 * of its packages. Throws if a package that it needs is not installed.
 */
export async function bundleGraphiql(isSmallest = false): Promise<void> {
  const quickStamp = describeSources();
  const smallestStamp = `${quickStamp}as small as possible\n`;
  const made = existsSync(stampFile) ? readFileSync(stampFile, 'utf8') : null;
  if (made === smallestStamp || (made === quickStamp && !isSmallest)) return;
  const part = `${folder}.${process.pid}`;
  await mkdir(part, { recursive: true });
  try {
    const { files, inputs } = await bundle(part);
    const quality = isSmallest ? constants.BROTLI_MAX_QUALITY : quickQuality;
    const write = async ({ path: file, contents }: Bundle['files'][number]): Promise<void> => {
      await writeFile(`${file}.br`, await compress(contents, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } }));
    };
    // The largest first, because it takes as long as all others together.
    await Promise.all([...files].sort((one, other) => other.contents.length - one.contents.length).map(write));
    if (isSmallest) await writeFile(path.join(part, 'licenses.txt'), collectLicenses(inputs));
    await writeFile(path.join(part, path.basename(stampFile)), isSmallest ? smallestStamp : quickStamp);
    // Replaced by a rename, for servers and tests that read it meanwhile.
    await rm(folder, { recursive: true, force: true });
    await rename(part, folder);
  } finally {
    await rm(part, { recursive: true, force: true });
  }
}

interface Bundle {
  readonly files: readonly { readonly path: string; readonly contents: Uint8Array }[];
  /** The source files of the bundle. */
  readonly inputs: readonly string[];
}

async function bundle(outdir: string): Promise<Bundle> {
  // esbuild is a Go program that runs for only a second here: without garbage collection it does a third less work, for 50 MB more.
  process.env.GOGC ??= 'off';
  const { build, stop } = await import('esbuild');
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints,
    outdir,
    write: false,
    bundle: true,
    minify: true,
    format: 'esm',
    // Rarely used code, such as the formatter, is loaded on demand.
    splitting: true,
    target: 'es2022',
    jsx: 'automatic',
    loader: { '.ttf': 'file' },
    assetNames: '[name]',
    define: { 'process.env.NODE_ENV': '"production"' },
    metafile: true,
    logLevel: 'warning',
    plugins: [
      {
        name: 'styles without those of the editor, which are in those of GraphiQL, and without fonts, which are larger than all else',
        setup({ onLoad }) {
          onLoad({ filter: /monaco-editor.*\.css$/ }, () => ({ contents: '' }));
          onLoad({ filter: /graphiql\/dist\/style\.css$/ }, async ({ path: file }) => ({
            contents: (await readFile(file, 'utf8')).replace(textFonts, '').replace(inlinedIcons, `url("${iconFont}")`),
            loader: 'css',
          }));
        },
      },
    ],
  });
  await stop();
  return { files: outputFiles, inputs: Object.keys(metafile.inputs) };
}

function packageFile(name: string): string {
  return path.join(root, 'node_modules', name, 'package.json');
}

function describeSources(): string {
  const hash = createHash('sha256');
  for (const file of globSync(`${import.meta.dirname}/**/*.*`).sort()) hash.update(readFileSync(file));
  const versions = packages.map((name) => {
    const { version } = JSON.parse(readFileSync(packageFile(name), 'utf8')) as { version: string };
    return `${name} ${version}`;
  });
  return `${[...versions, `sources ${hash.digest('hex')}`].join('\n')}\n`;
}

/** Their licenses require these texts to be distributed with the code. */
function collectLicenses(inputs: readonly string[]): string {
  const folders = new Set(inputs.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []));
  return [...folders]
    .sort()
    .flatMap((packageFolder) => {
      const [license] = globSync(path.join(root, packageFolder, '{LICENSE,LICENCE,license}*'));
      const name = packageFolder.slice(packageFolder.lastIndexOf('node_modules/') + 'node_modules/'.length);
      return license === undefined ? [] : [`${name}\n\n${readFileSync(license, 'utf8').trim()}\n`];
    })
    .join('\n----\n\n');
}

/** `--if-installed`: does nothing in an installation without devDependencies, which then has no GraphiQL. */
if (import.meta.main && !(process.argv.includes('--if-installed') && packages.some((name) => !existsSync(packageFile(name))))) {
  await bundleGraphiql(process.argv.includes('--smallest'));
}
