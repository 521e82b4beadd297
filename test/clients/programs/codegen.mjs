/** Types of documents: GraphQL Code Generator's client preset from SDL and from live introspection, and gql.tada; TypeScript's strict mode accepts and refuses. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { generate } from '@graphql-codegen/cli';
import { preset as client } from '@graphql-codegen/client-preset';
import { withScalars } from '../../../src/codegen/codegen.ts';
import { folder, headers, makeFolder, url } from './settings.mjs';

const bin = path.join(folder, '../node_modules/.bin');
const strict = {
  strict: true,
  noEmit: true,
  target: 'es2022',
  module: 'esnext',
  moduleResolution: 'bundler',
  skipLibCheck: false,
  types: [],
};
/** What tsc says of the folder. */
const check = (project) => spawnSync(path.join(bin, 'tsc'), ['-p', project], { encoding: 'utf8' }).stdout;

const document = `query Notes($filter: NoteFilter) { noteCollection(filter: $filter) { edges { cursor node { id body meta author { name } } } } }`;
const wrong = (text) => `  // @ts-expect-error: ${text}\n`;
const use = `
  const { noteCollection } = result;
  const id: string = noteCollection.edges[0]!.node.id;
  const meta: string | null | undefined = noteCollection.edges[0]!.node.meta;
${wrong('a BigInt is a string')}  const number: number = noteCollection.edges[0]!.node.id;
${wrong('there is no such field')}  noteCollection.edges[0]!.node.nothing;
  return [id, meta, number];`;

const sdl = path.join(makeFolder('schema'), 'schema.graphql');
writeFileSync(sdl, process.env.SDL);
const outputs = [];
for (const [name, schema] of [
  ['sdl', sdl],
  ['live', { [url]: { headers } }],
]) {
  const project = makeFolder(name);
  writeFileSync(path.join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions: strict }));
  const program = `import { graphql } from './gql';
import type { AddMutationVariables, NotesQuery, NotesQueryVariables } from './gql/graphql';
export const notes = graphql(\`${document}\`);
export const add = graphql(\`mutation Add($objects: [NoteInsertInput!]!) { insertIntoNoteCollection(objects: $objects) { affectedCount } }\`);
export const input: AddMutationVariables = { objects: [{ body: 'a', authorId: 1, meta: '{}' }] };
${wrong('JSON is text')}export const json: AddMutationVariables = { objects: [{ meta: { a: 1 } }] };
export const variables: NotesQueryVariables = { filter: { id: { in: ['1', 2] } } };
export function use(result: NotesQuery) {${use}
}
`;
  writeFileSync(path.join(project, 'notes.ts'), program);
  await generate(
    {
      schema,
      documents: [path.join(project, 'notes.ts')],
      generates: { [`${project}/gql/`]: { preset: withScalars(client) } },
      silent: true,
    },
    true,
  );
  assert.equal(check(project), '', name);
  const types = readFileSync(path.join(project, 'gql/graphql.ts'), 'utf8');
  assert.doesNotMatch(types.replaceAll(/\/\*[\s\S]*?\*\//g, ''), /\bany\b/);
  outputs.push(types);
}
assert.equal(outputs[0], outputs[1]);

// gql.tada reads the same file.
const project = makeFolder('tada');
const plugin = { name: 'gql.tada/ts-plugin', schema: sdl, tadaOutputLocation: './graphql-env.d.ts' };
writeFileSync(path.join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions: { ...strict, plugins: [plugin] } }));
execFileSync(path.join(bin, 'gql.tada'), ['generate', 'output'], { cwd: project, stdio: 'ignore' });
const setup = `import { initGraphQLTada, type ResultOf } from 'gql.tada';
import type { introspection } from './graphql-env.d.ts';
import type { ScalarTypes } from './scalars';
const graphql = initGraphQLTada<{ introspection: introspection; scalars: ScalarTypes }>();
const notes = graphql(\`${document}\`);
export function use(result: ResultOf<typeof notes>) {${use}
}
`;
const scalars = `export interface ScalarTypes { BigInt: string; BigFloat: string; JSON: string; UUID: string; Date: string; Time: string; Datetime: string; Opaque: unknown; Cursor: string }\n`;
writeFileSync(path.join(project, 'scalars.ts'), scalars);
writeFileSync(path.join(project, 'notes.ts'), setup);
assert.equal(check(project), '');
