/** A request as code that can be run: for a shell, for `fetch`, for Python without packages, and for the clients Apollo, urql and Relay. */
import {
  type DocumentNode,
  type InlineFragmentNode,
  Kind,
  type NameNode,
  type OperationDefinitionNode,
  OperationTypeNode,
  parse,
  print,
  separateOperations,
  stripIgnoredCharacters,
  visit,
} from 'graphql';

export interface RequestToCopy {
  /** Absolute. */
  readonly url: string;
  /** Those that identify the caller. */
  readonly headers: Readonly<Record<string, string>>;
  readonly query: string;
  /** An object; null for none. */
  readonly variables: Readonly<Record<string, unknown>> | null;
  /** Which operation of the document, if it has several. */
  readonly operationName: string | undefined;
}

export const codeKinds = ['curl', 'fetch', 'Apollo', 'urql', 'Relay', 'Python'] as const;
export type CodeKind = (typeof codeKinds)[number];

/** Throws an `Error` that says what to do if the document is not valid syntax, or does not determine the operation. */
export function writeCode(kind: CodeKind, request: RequestToCopy): string {
  const operation = chooseOperation(request);
  return writers[kind](request, operation);
}

/** One operation with the fragments that it uses. */
interface Operation {
  readonly kind: OperationDefinitionNode['operation'];
  readonly name: string | undefined;
  readonly document: DocumentNode;
  /** As the user wrote it, if the document has nothing else. */
  readonly text: string;
}

function chooseOperation({ query, operationName }: RequestToCopy): Operation {
  const document = readDocument(query);
  const operations = document.definitions.filter((each) => each.kind === Kind.OPERATION_DEFINITION);
  const found = operations.length === 1 ? operations[0] : operations.find(({ name }) => name?.value === operationName);
  if (operations.length === 0) throw new Error('The document has no operation: write one first.');
  if (found === undefined) throw new Error('The document has several operations: put the cursor of the editor into one with a name.');
  if (found.operation === OperationTypeNode.SUBSCRIPTION)
    throw new Error('A subscription needs a stream, which each client opens in its own way: see docs/live.md.');
  const name = found.name?.value;
  const isAlone = operations.length === 1;
  const single = isAlone ? document : (separateOperations(document)[name ?? ''] ?? document);
  return { kind: found.operation, name, document: single, text: (isAlone ? query : print(single)).trim() };
}

function readDocument(query: string): DocumentNode {
  try {
    return parse(query);
  } catch (error) {
    throw new Error(`Correct the document first: ${(error as Error).message}`);
  }
}

type Writer = (request: RequestToCopy, operation: Operation) => string;

const writers: Readonly<Record<CodeKind, Writer>> = {
  curl: ({ url, headers, variables }, { text, name }) => {
    const body = JSON.stringify({
      query: stripIgnoredCharacters(text),
      ...(variables !== null && { variables }),
      ...(name !== undefined && { operationName: name }),
    });
    const all = { ...headers, 'content-type': 'application/json' };
    const lines = Object.entries(all).map(([header, value]) => `  -H ${quoteForShell(`${header}: ${value}`)}`);
    return [`curl ${quoteForShell(url)}`, ...lines, `  --data-raw ${quoteForShell(body)}`].join(' \\\n');
  },
  fetch: ({ url, headers, variables }, { text }) => `const query = ${template(text)};

const response = await fetch(${quote(url)}, {
  method: 'POST',
  headers: ${object({ ...headers, 'content-type': 'application/json' }, 1)},
  body: JSON.stringify({ query${variables === null ? '' : `, variables: ${object(variables, 1)}`} }),
});
const { data, errors } = await response.json();
if (errors) throw new Error(errors.map(({ message }) => message).join('\\n'));
console.log(data);`,
  Apollo: ({ url, headers, variables }, { text, kind }) => `import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client';

const client = new ApolloClient({
  link: new HttpLink({
    uri: ${quote(url)},
    headers: ${object(headers, 2)},
  }),
  cache: new InMemoryCache(),
});

const { data } = await client.${kind === 'mutation' ? 'mutate' : 'query'}({
  ${kind === 'mutation' ? 'mutation' : 'query'}: gql${template(text)},${variables === null ? '' : `\n  variables: ${object(variables, 1)},`}
});
console.log(data);`,
  urql: ({ url, headers, variables }, { text, kind }) => `import { cacheExchange, Client, fetchExchange, gql } from '@urql/core';

const client = new Client({
  url: ${quote(url)},
  exchanges: [cacheExchange, fetchExchange],
  preferGetMethod: false,
  fetchOptions: {
    headers: ${object(headers, 2)},
  },
});

const { data, error } = await client
  .${kind === 'mutation' ? 'mutation' : 'query'}(gql${template(text)}, ${object(variables ?? {}, 1)})
  .toPromise();
if (error) throw error;
console.log(data);`,
  Relay: writeRelay,
  Python: ({ url, headers, variables }, { text }) => `import json
import urllib.request

query = """
${text.replaceAll('\\', '\\\\').replaceAll('"""', '\\"\\"\\"').replaceAll(/"$/g, '\\"')}
"""

request = urllib.request.Request(
    ${JSON.stringify(url)},
    headers=${python({ ...headers, 'Content-Type': 'application/json' }, 1)},
    data=json.dumps({"query": query${variables === null ? '' : `, "variables": ${python(variables, 1)}`}}).encode(),
)
with urllib.request.urlopen(request) as response:
    answer = json.load(response)
if "errors" in answer:
    raise SystemExit("\\n".join(error["message"] for error in answer["errors"]))
print(json.dumps(answer["data"], indent=2))`,
};

/** The compiler requires a name that begins with that of the file and ends with the kind of the operation. */
function writeRelay({ url, headers, variables }: RequestToCopy, { kind, name = 'App', document }: Operation): string {
  const end = kind === 'mutation' ? 'Mutation' : 'Query';
  const plain = name.replace(/[^A-Za-z0-9]/g, '').replace(new RegExp(`${end}$`), '') || 'App';
  const file = plain[0]?.toUpperCase() + plain.slice(1);
  const text = template(print({ ...inlineFragments(document), name: nameOf(`${file}${end}`) }));
  const given = object(variables ?? {}, kind === 'mutation' ? 1 : 0);
  const run =
    kind === 'mutation'
      ? `commitMutation(environment, {
  mutation: graphql${text},
  variables: ${given},
  onCompleted: (data) => console.log(data),
  onError: (error) => console.error(error),
});`
      : `const data = await fetchQuery(environment, graphql${text}, ${given}).toPromise();
console.log(data);`;
  return `// ${file}.js: the Relay compiler takes the name of the operation from that of the file.
import { ${kind === 'mutation' ? 'commitMutation, ' : ''}Environment, ${kind === 'mutation' ? '' : 'fetchQuery, '}graphql, Network, RecordSource, Store } from 'relay-runtime';

const environment = new Environment({
  network: Network.create(async ({ text: query }, variables) => {
    const response = await fetch(${quote(url)}, {
      method: 'POST',
      headers: ${object({ ...headers, 'content-type': 'application/json' }, 3)},
      body: JSON.stringify({ query, variables }),
    });
    return response.json();
  }),
  store: new Store(new RecordSource()),
  getDataID: ({ nodeId }) => nodeId,
});

${run}`;
}

/** More would be fragments that contain each other. */
const mostSpreads = 1000;

/** The only operation, with what its fragments select in their places: Relay would keep that from whoever asks for the data. */
function inlineFragments({ definitions }: DocumentNode): OperationDefinitionNode {
  const fragments = new Map(definitions.flatMap((each) => (each.kind === Kind.FRAGMENT_DEFINITION ? [[each.name.value, each]] : [])));
  const [operation] = definitions.filter((each) => each.kind === Kind.OPERATION_DEFINITION);
  if (operation === undefined) throw new Error('The document has no operation: write one first.');
  let count = 0;
  return visit(operation, {
    FragmentSpread({ name, directives }): InlineFragmentNode {
      const fragment = fragments.get(name.value);
      if (fragment === undefined) throw new Error(`There is no fragment "${name.value}": write it first.`);
      if (++count > mostSpreads) throw new Error('The fragments contain each other, or are too many.');
      const { typeCondition, selectionSet } = fragment;
      return { kind: Kind.INLINE_FRAGMENT, typeCondition, selectionSet, ...(directives !== undefined && { directives }) };
    },
  });
}

function nameOf(value: string): NameNode {
  return { kind: Kind.NAME, value };
}

/** A word of a POSIX shell. */
function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** A string of JavaScript in single quotes. */
function quote(text: string): string {
  const inside = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'");
  return `'${inside}'`;
}

/** A template of JavaScript with the text on lines of its own. */
function template(text: string): string {
  const escaped = text.trim().replaceAll('\\', '\\\\').replaceAll('`', '\\`').replaceAll('${', '\\${');
  const lines = escaped.split('\n').map((line) => (line === '' ? '' : `  ${line}`));
  return `\`\n${lines.join('\n')}\n\``;
}

/** A value of JavaScript. `depth`: how far the line is indented, in steps of two. */
function object(value: unknown, depth: number): string {
  const indented = '  '.repeat(depth + 1);
  const end = `\n${'  '.repeat(depth)}`;
  if (typeof value === 'string') return quote(value);
  if (Array.isArray(value))
    return value.length === 0 ? '[]' : `[\n${value.map((each) => `${indented}${object(each, depth + 1)},`).join('\n')}${end}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, member]) => `${indented}${key(name)}: ${object(member, depth + 1)},`);
  return members.length === 0 ? '{}' : `{\n${members.join('\n')}${end}}`;
}

/** `__proto__: …` would set the prototype. */
function key(name: string): string {
  if (name === '__proto__') return "['__proto__']";
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : quote(name);
}

/** A value of Python: strings of JSON are strings of Python. */
function python(value: unknown, depth: number): string {
  const indented = '    '.repeat(depth + 1);
  const end = `\n${'    '.repeat(depth)}`;
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (Array.isArray(value))
    return value.length === 0 ? '[]' : `[\n${value.map((each) => `${indented}${python(each, depth + 1)},`).join('\n')}${end}]`;
  if (typeof value !== 'object') return JSON.stringify(value);
  const members = Object.entries(value).map(([name, member]) => `${indented}${JSON.stringify(name)}: ${python(member, depth + 1)},`);
  return members.length === 0 ? '{}' : `{\n${members.join('\n')}${end}}`;
}
