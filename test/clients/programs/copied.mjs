/** What the page copies for Apollo, urql and Relay (`graphiql/page/copy-as.ts`), run as it is: a query and a mutation each. */
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { writeCode } from '../../../graphiql/page/copy-as.ts';
import { folder, headers, url } from './settings.mjs';

// Here, where the packages are found.
const modules = path.join(folder, '../generated/copied');
mkdirSync(modules, { recursive: true });
process.once('exit', () => rmSync(modules, { recursive: true }));
const query = `query Notes($first: Int, $like: String) {
  noteCollection(first: $first, filter: { body: { like: $like } }, orderBy: [{ body: AscNullsLast }]) { ...Some }
}
fragment Some on NoteConnection { edges { node { nodeId body } } }
query Other { __typename }`;
const mutation = 'mutation AddNote($body: String!) { insertIntoNoteCollection(objects: [{ body: $body }]) { records { nodeId body } } }';
const requests = [
  { query, operationName: 'Notes', variables: { first: 1, like: 'al%' }, shown: /alpha/ },
  { query: mutation, operationName: undefined, variables: { body: `it's \`new\` "\${x}"` }, shown: /it\\?'s `new` \\?"\$\{x\}\\?"/ },
];

async function run(name, code, shown) {
  const file = path.join(modules, `${name}.mjs`);
  // An object within an object is printed as it is.
  writeFileSync(file, code.replaceAll('console.log(data)', 'console.log(JSON.stringify(data))'));
  const { stdout } = await promisify(execFile)(process.execPath, [file]);
  assert.match(stdout, shown, code);
}

for (const { shown, ...request } of requests) {
  for (const kind of ['Apollo', 'urql']) await run(kind, writeCode(kind, { url, headers, ...request }), shown);
  const code = writeCode('Relay', { url, headers, ...request });
  const name = /^\/\/ (\w+)\.js/.exec(code)[1];
  const project = mkdtempSync(path.join(tmpdir(), 'rowgraph-copied-'));
  process.once('exit', () => rmSync(project, { recursive: true }));
  for (const each of ['src', 'artifacts']) mkdirSync(path.join(project, each));
  writeFileSync(path.join(project, `src/${name}.js`), code);
  writeFileSync(path.join(project, 'schema.graphql'), process.env.SDL);
  const schemaConfig = { nodeInterfaceIdField: 'nodeId', nodeInterfaceIdVariableName: 'nodeId' };
  const config = {
    src: './src',
    schema: './schema.graphql',
    language: 'javascript',
    artifactDirectory: './artifacts',
    eagerEsModules: false,
  };
  writeFileSync(path.join(project, 'relay.config.json'), JSON.stringify({ ...config, schemaConfig }));
  execFileSync(path.join(folder, '../node_modules/.bin/relay-compiler'), { cwd: project, stdio: ['ignore', 'ignore', 'inherit'] });
  // In the place of Relay's plugin for Babel.
  const artifact = /(?:query|mutation) (\w+)/.exec(code.split('graphql`')[1])[1];
  const compiled = code.replace(/graphql`[^`\\]*(?:\\.[^`\\]*)*`/, 'artifact').replace('graphql, ', '');
  const load = `import { createRequire } from 'node:module';\nconst artifact = createRequire(${JSON.stringify(`${project}/artifacts/`)})('./${artifact}.graphql');\n`;
  await run('Relay', `${load}${compiled}`, shown);
}
