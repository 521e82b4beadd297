/**
 * Each collection of a schema with odd names, types and keys, with all that its rows have: Relay's compiler, GraphQL Code Generator and gql.tada take the operations,
 * and the caches of urql and Apollo Client give back what the server sent. With `nodeId`, and with `id` and required inputs.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { generate } from '@graphql-codegen/cli';
import { preset as client } from '@graphql-codegen/client-preset';
import { Client, fetchExchange } from '@urql/core';
import { cacheExchange } from '@urql/exchange-graphcache';
import { buildSchema, getNamedType, introspectionFromSchema, isLeafType, isObjectType, validateSchema } from 'graphql';
import { withScalars } from '../../../src/codegen/codegen.ts';
import { folder, headers, idUrl, makeFolder, url } from './settings.mjs';

const bin = path.join(folder, '../node_modules/.bin');
const strict = { strict: true, noEmit: true, target: 'es2022', module: 'esnext', moduleResolution: 'bundler', types: [] };
const compilerOptions = { ...strict, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, verbatimModuleSyntax: true };
const warnings = [];
console.warn = (...words) => warnings.push(words.join(' '));

/** What a row has of its own: columns and computed fields. */
const leavesOf = (type) =>
  Object.values(type.getFields())
    .filter((field) => isLeafType(getNamedType(field.type)))
    .map(({ name }) => name)
    .join(' ');

/** A query of each collection with its rows and the rows that they lead to, and an insert into each. */
function writeOperations(schema) {
  const typeAt = (type, ...names) => names.reduce((from, name) => getNamedType(from.getFields()[name].type), type);
  const argumentsOf = (field) => Object.fromEntries(field.args.map(({ name, type }) => [name, String(type)]));
  const fields = (root) => Object.values(root.getFields());
  const queries = fields(schema.getQueryType())
    .filter(({ name }) => name.endsWith('Collection'))
    .map((field) => {
      const row = typeAt(getNamedType(field.type), 'edges', 'node');
      const targets = fields(row).filter(({ type }) => isObjectType(getNamedType(type)) && !getNamedType(type).name.endsWith('Connection'));
      const related = targets.map(({ name, type }) => `${name} { ${leavesOf(getNamedType(type))} }`).join(' ');
      const { filter, orderBy } = argumentsOf(field);
      return `query ($filter: ${filter}, $orderBy: ${orderBy}) { ${field.name}(filter: $filter, orderBy: $orderBy) { edges { cursor node { ${leavesOf(row)} ${related} } } } }`;
    });
  const inserts = fields(schema.getMutationType())
    .filter(({ name }) => name.startsWith('insertInto'))
    .map((field) => `mutation ($objects: ${argumentsOf(field).objects}) { ${field.name}(objects: $objects) { affectedCount } }`);
  const named = (text, number) => text.replace(/^(query|mutation)/, `$1 operations${number}${text.startsWith('q') ? 'Query' : 'Mutation'}`);
  return [...queries, ...inserts].map(named);
}

function compileForRelay(sdl, operations, schemaConfig) {
  // The compiler does not see what git ignores.
  const project = mkdtempSync(path.join(tmpdir(), 'rowgraph-odd-names-'));
  process.once('exit', () => rmSync(project, { recursive: true }));
  for (const name of ['src', 'artifacts']) mkdirSync(path.join(project, name));
  const config = { src: './src', schema: './schema.graphql', language: 'typescript', artifactDirectory: './artifacts', schemaConfig };
  writeFileSync(path.join(project, 'relay.config.json'), JSON.stringify(config));
  writeFileSync(path.join(project, 'schema.graphql'), sdl);
  const tags = operations.map((operation) => `graphql\`${operation}\``).join(',\n');
  writeFileSync(path.join(project, 'src/operations.ts'), `import { graphql } from 'react-relay';\nexport const operations = [${tags}];`);
  execFileSync(path.join(bin, 'relay-compiler'), { cwd: project, stdio: ['ignore', 'ignore', 'inherit'] });
}

/** By the client preset and by gql.tada; `tsc` accepts both. */
async function checkTypes(name, sdl, operations) {
  const project = makeFolder(`odd-names-${name}`);
  const write = (file, text) => writeFileSync(path.join(project, file), text);
  const plugin = { name: 'gql.tada/ts-plugin', schema: './schema.graphql', tadaOutputLocation: './graphql-env.d.ts' };
  write('schema.graphql', sdl);
  write('tsconfig.json', JSON.stringify({ compilerOptions: { ...compilerOptions, plugins: [plugin] } }));
  const documents = operations.map((operation, number) => `export const document${number} = graphql(\`${operation}\`);\n`);
  write('preset.ts', `import { graphql } from './gql';\n${documents.join('')}`);
  const generates = { [`${project}/gql/`]: { preset: withScalars(client), config: { useTypeImports: true } } };
  await generate({ schema: `${project}/schema.graphql`, documents: `${project}/preset.ts`, generates, silent: true }, true);
  execFileSync(path.join(bin, 'gql.tada'), ['generate', 'output'], { cwd: project, stdio: 'ignore' });
  const opening = `import { initGraphQLTada, type ResultOf } from 'gql.tada';
import type { introspection } from './graphql-env.d.ts';
const graphql = initGraphQLTada<{ introspection: introspection }>();
type IsKnown<Result> = [Result] extends [never] ? false : true;\n`;
  const known = operations.map(
    (_operation, number) => `export const known${number}: IsKnown<ResultOf<typeof document${number}>> = true;\n`,
  );
  write('tada.ts', `${opening}${documents.join('')}${known.join('')}`);
  assert.equal(spawnSync(path.join(bin, 'tsc'), ['-p', project], { encoding: 'utf8' }).stdout, '', name);
}

/** As text, with the keys of objects in one order, and without the names of types, which the caches ask for. */
const comparable = (data) =>
  JSON.stringify(data, (key, value) => {
    if (key === '__typename') return undefined;
    return value === null || typeof value !== 'object' || Array.isArray(value)
      ? value
      : Object.fromEntries(Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1)));
  });

async function checkCaches(address, schema, key, queries) {
  const introspection = introspectionFromSchema(schema);
  const objects = introspection.__schema.types.filter(({ kind }) => kind === 'OBJECT');
  const keys = Object.fromEntries(
    objects.map(({ name, interfaces }) => [name, (row) => (interfaces.length > 0 ? (row[key] ?? null) : null)]),
  );
  const urql = new Client({
    url: address,
    fetchOptions: { headers },
    exchanges: [cacheExchange({ schema: introspection, keys }), fetchExchange],
  });
  const dataIdFromObject = (row) => row[key] && `${row.__typename}:${row[key]}`;
  const apollo = new ApolloClient({ link: new HttpLink({ uri: address, headers }), cache: new InMemoryCache({ dataIdFromObject }) });
  for (const query of queries) {
    const response = await fetch(address, { method: 'POST', headers, body: JSON.stringify({ query }) });
    const sent = comparable((await response.json()).data);
    assert.match(sent, /^\{"\w+":\{"edges":\[/);
    assert.equal(comparable((await urql.query(query, {}).toPromise()).data), sent);
    assert.equal(comparable((await apollo.query({ query: gql(query) })).data), sent);
  }
  apollo.stop();
}

const nodeIdConfig = { nodeInterfaceIdField: 'nodeId', nodeInterfaceIdVariableName: 'nodeId' };
for (const [key, sdl, address, schemaConfig] of [
  ['nodeId', process.env.SDL, url, nodeIdConfig],
  ['id', process.env.ID_SDL, idUrl, undefined],
]) {
  const schema = buildSchema(sdl);
  assert.deepEqual(validateSchema(schema), []);
  const operations = writeOperations(schema);
  assert.ok(operations.length >= 15, String(operations.length));
  compileForRelay(sdl, operations, schemaConfig);
  await checkTypes(key, sdl, operations);
  await checkCaches(
    address,
    schema,
    key,
    operations.filter((operation) => operation.startsWith('query')),
  );
}
assert.deepEqual(warnings, []);
