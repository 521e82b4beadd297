/**
 * Makes the extension available in PGlite: `PGlite.create({ extensions: { rowgraph: pgliteExtension } })`. Writes its files each time the
 * database starts, because PGlite keeps extension files in memory.
 *
 * Relies on undocumented behaviour of PGlite: the folder of its extensions, and its file system (`test/contracts/pglite.test.ts`).
 */
import { extensionFiles } from './extension-versions.ts';

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
