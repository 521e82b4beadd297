/** What to ask the API first: a query that works for a role, and the operations of the example. */
import { readdir, readFile } from 'node:fs/promises';
import type { Rowgraph } from '../../index.ts';

const exampleQuery = '{ speciesCollection(first: 3, orderBy: [{name: AscNullsLast}]) { edges { node { name scientificName } } } }';
const nothingQuery = '{ __typename }';

/** The example's query if the example is loaded, otherwise one of the first collection that the role sees. */
export async function chooseSampleQuery(graph: Rowgraph, role: string): Promise<string> {
  const works = async (query: string): Promise<boolean> => (await graph.execute({ query }, { role })).errors === undefined;
  if (await works(exampleQuery)) return exampleQuery;
  const query = await collectionQuery(graph, role);
  return (await works(query)) ? query : nothingQuery;
}

interface TypeReference {
  readonly kind: string;
  readonly name: string | null;
  readonly ofType: TypeReference | null;
}

interface IntrospectedType {
  readonly name: string;
  readonly fields: readonly { readonly name: string; readonly type: TypeReference }[] | null;
}

const introspection = `{ __schema { queryType { name } types { name fields { name type {
  kind name ofType { kind name ofType { kind name ofType { kind name } } } } } } } }`;

async function collectionQuery(graph: Rowgraph, role: string): Promise<string> {
  const { data } = await graph.execute({ query: introspection }, { role });
  const schema = data?.__schema as { queryType: { name: string }; types: IntrospectedType[] } | undefined;
  const fieldsOf = (name: string | null | undefined) => schema?.types.find((type) => type.name === name)?.fields ?? [];
  const collection = fieldsOf(schema?.queryType.name).find((field) => field.name.endsWith('Collection'));
  const edge = fieldsOf(nameOf(collection?.type)).find((field) => field.name === 'edges');
  const node = fieldsOf(nameOf(edge?.type)).find((field) => field.name === 'node');
  const leaves = fieldsOf(nameOf(node?.type)).filter((field) => ['SCALAR', 'ENUM'].includes(leafOf(field.type).kind));
  const selected = leaves.filter((field) => leafOf(field.type).name !== 'ID').slice(0, 3);
  if (collection === undefined || selected.length === 0) return nothingQuery;
  return `{ ${collection.name}(first: 3) { edges { node { ${selected.map((field) => field.name).join(' ')} } } } }`;
}

function leafOf(type: TypeReference): TypeReference {
  return type.ofType === null || type.ofType === undefined ? type : leafOf(type.ofType);
}

function nameOf(type: TypeReference | undefined): string | null {
  return type === undefined ? null : leafOf(type).name;
}

const folder = new URL('../../../examples/bird-club/operations/', import.meta.url);

/** The example's operations, if each is valid for one of the roles; without the subscription if live queries are off. */
export async function readExampleOperations(graph: Rowgraph, roles: readonly string[]): Promise<readonly string[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.graphql')).sort();
  const documents = await Promise.all(names.map((name) => readFile(new URL(name, folder), 'utf8')));
  const valid: string[] = [];
  for (const document of documents) {
    if (await isValid(graph, document, roles)) valid.push(document);
    else if (!/^subscription\b/m.test(document)) return [];
  }
  return valid;
}

async function isValid(graph: Rowgraph, document: string, roles: readonly string[]): Promise<boolean> {
  for (const role of roles) if ((await graph.validate(document, { role })).length === 0) return true;
  return false;
}
