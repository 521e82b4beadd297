/** Houdini's compiler on a schema of rowgraph's, and the documents that it makes of `@paginate`, sent until there are no more pages. Its runtime needs a framework, and is not run. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { folder, headers, url } from './settings.mjs';

// The compiler does not see what git ignores, so that this is outside of the repository.
const project = mkdtempSync(path.join(tmpdir(), 'rowgraph-houdini-'));
process.once('exit', () => rmSync(project, { recursive: true }));
const write = (name, text) => writeFileSync(path.join(project, name), text);
symlinkSync(path.join(folder, '../node_modules'), path.join(project, 'node_modules'));
mkdirSync(path.join(project, 'src'));
write('package.json', JSON.stringify({ type: 'module' }));
write('schema.graphql', process.env.SDL);
const text = { type: 'string' };
const config = {
  schemaPath: './schema.graphql',
  // What tells rows apart; not needed with rowgraph's --node-id-field id.
  defaultKeys: ['nodeId'],
  scalars: { BigInt: text, BigFloat: text, JSON: text, UUID: text, Date: text, Time: text, Datetime: text, Cursor: text, Opaque: text },
};
write('houdini.config.js', `export default ${JSON.stringify(config)};`);
write(
  'src/notes.gql',
  `query Notes {
  noteCollection(first: 2, orderBy: [{ body: AscNullsLast }]) @paginate {
    edges { node { id body tagCollection { edges { node { name } } } } }
  }
}`,
);
execFileSync(process.execPath, [path.join(folder, '../node_modules/houdini/build/cmd/index.js'), 'generate'], {
  cwd: project,
  stdio: 'ignore',
});

const artifact = readFileSync(path.join(project, '.houdini/artifacts/Notes.ts'), 'utf8');
const query = /"raw": `([^`]+)`/.exec(artifact)[1];
assert.match(artifact, /"method": "cursor"/);
// The compiler adds the keys that tell rows apart.
assert.equal(query.match(/\bnodeId\b/g).length, 2);
const bodies = [];
for (let variables = {}; ; ) {
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ query, variables }) });
  const { data, errors } = await response.json();
  assert.equal(errors, undefined);
  const { edges, pageInfo } = data.noteCollection;
  bodies.push(...edges.map(({ node }) => node.body));
  if (!pageInfo.hasNextPage) break;
  variables = { first: 2, after: pageInfo.endCursor };
}
assert.deepEqual(bodies, ['alpha', 'beta', 'delta', 'epsilon', 'gamma']);
