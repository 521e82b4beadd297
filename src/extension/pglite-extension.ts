/**
 * Makes the extension available in a PGlite: `PGlite.create({ extensions: { rowgraph: pgliteExtension } })`. Its files are written when the database starts,
 * as PGlite keeps those of extensions in memory.
 *
 * Leans on undocumented behaviour of PGlite: the folder of its extensions, and its file system (`test/contracts/pglite.test.ts`).
 */
import { extensionFiles } from './extension-files.ts';

/** What is used of a PGlite. */
interface PgliteFiles {
  readonly Module: { readonly FS: { writeFile(path: string, text: string): void } };
}

const folder = '/pglite/share/postgresql/extension';

export const pgliteExtension = {
  name: 'rowgraph',
  setup: async (pglite: unknown): Promise<{ init: () => Promise<void> }> => ({
    init: async () => {
      const { FS } = (pglite as PgliteFiles).Module;
      for (const [name, text] of extensionFiles()) FS.writeFile(`${folder}/${name}`, text);
    },
  }),
};
