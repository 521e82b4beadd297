/**
 * Houdini's compiler and runtime, against a rowgraph whose global identifier is `id` (--node-id-field id): the runtime merges pages by a field of that name.
 * No framework takes part; what its stores do, houdini/use.js does.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createServer } from 'vite';
import { folder, idUrl } from './settings.mjs';

// The compiler does not see what git ignores, so that this is outside of the repository.
const project = mkdtempSync(path.join(tmpdir(), 'rowgraph-houdini-'));
process.once('exit', () => rmSync(project, { recursive: true }));
const write = (name, text) => writeFileSync(path.join(project, name), text);
symlinkSync(path.join(folder, '../node_modules'), path.join(project, 'node_modules'));
mkdirSync(path.join(project, 'src'));
for (const file of ['documents.gql', 'use.js']) cpSync(path.join(folder, 'houdini', file), path.join(project, 'src', file));
write('package.json', JSON.stringify({ type: 'module' }));
write('schema.graphql', process.env.ID_SDL);
const url = idUrl;
const text = { type: 'string' };
const config = {
  url,
  schemaPath: './schema.graphql',
  scalars: {
    BigInt: text,
    BigFloat: text,
    JSON: text,
    UUID: text,
    Date: text,
    Time: text,
    Datetime: text,
    Cursor: text,
    Opaque: { type: 'unknown' },
  },
};
write('houdini.config.js', `export default ${JSON.stringify(config)};`);
execFileSync(process.execPath, [path.join(folder, '../node_modules/houdini/build/cmd/index.js'), 'generate'], {
  cwd: project,
  stdio: ['ignore', 'ignore', 'inherit'],
});

// The runtime keeps a cache in browsers alone.
globalThis.window = globalThis;
const vite = await createServer({
  root: project,
  configFile: false,
  appType: 'custom',
  logLevel: 'error',
  server: { middlewareMode: true, ws: false, watch: null },
  resolve: { alias: { $houdini: path.join(project, '.houdini') } },
});
await vite.ssrLoadModule('/src/use.js');
await vite.close();
process.exit(0);
