/** Requests as code, as the page copies them: curl, fetch and Python are run; of the others, test:clients runs what is written here. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { buildSchema, parse, validate } from 'graphql';
import { type CodeKind, codeKinds, type RequestToCopy, writeCode } from '../../graphiql/page/copy-as.ts';
import { makeFolder, removeFolder } from '../process/run-command.ts';

const run = promisify(execFile);
/** What arrived last. */
let arrived: { headers: Record<string, unknown>; body: { query: string; variables?: unknown; operationName?: string } };
let answer: object = { data: { done: true } };
const server = createServer((request, response) => {
  let text = '';
  request.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  request.on('end', () => {
    arrived = { headers: request.headers, body: JSON.parse(text) };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(answer));
  });
});
let url: string;
let folder: string;
before(async () => {
  folder = await makeFolder();
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  url = `http://127.0.0.1:${address.port}/it's/$HOME/graphql/v1`;
});
after(async () => {
  server.close();
  await removeFolder(folder);
});

/** Everything that a shell, a template or a string could take for something else. */
const odd = `'"\`\${x} $HOME $(id) \\ \\n \\u00e9 """ é 😀 %s {0} </script> \u2028 end"`;
const request = (): RequestToCopy => ({
  url,
  headers: { apiKey: "it's a `key` $HOME \\", authorization: 'Bearer t' },
  query: `# It's a "comment" with \`backticks\` \${x}\nquery Odd($odd: JSON) {\n  find(text: ${JSON.stringify(odd)}, block: """a "quoted" \\""" word\n  \\d ""\n""")\n}`,
  variables: { odd: { text: odd, list: [1, 2.5, true, null, [], {}], __proto__: null, 'with-dash': false, class: 1 } },
  operationName: 'Odd',
});
/** The syntax, without positions and comments. */
const syntax = (query: string): unknown => JSON.parse(JSON.stringify(parse(query, { noLocation: true })));

const commands: Partial<Record<CodeKind, (code: string) => Promise<{ stdout: string }>>> = {
  curl: (code) => run('sh', ['-c', code]),
  fetch: async (code) => {
    await writeFile(path.join(folder, 'fetch.mjs'), code);
    return run(process.execPath, [path.join(folder, 'fetch.mjs')]);
  },
  Python: async (code) => {
    await writeFile(path.join(folder, 'ask.py'), code);
    return run('python3', [path.join(folder, 'ask.py')]);
  },
};

for (const [kind, execute] of Object.entries(commands))
  test(`${kind}: the code sends the request as it is, and prints the data`, async () => {
    for (const variables of [request().variables, null]) {
      const asked = { ...request(), variables };
      const { stdout } = await execute(writeCode(kind as CodeKind, asked));
      assert.match(stdout, /done"?: [Tt]rue|"done":true/);
      assert.deepEqual(syntax(arrived.body.query), syntax(asked.query));
      assert.deepEqual(arrived.body.variables ?? null, JSON.parse(JSON.stringify(variables)));
      assert.deepEqual([arrived.headers.apikey, arrived.headers.authorization], [asked.headers.apiKey, 'Bearer t']);
      assert.match(String(arrived.headers['content-type']), /^application\/json/);
    }
  });

test('errors of the server end the code with their messages', async () => {
  answer = { errors: [{ message: 'No such "field"' }] };
  for (const kind of ['fetch', 'Python'] as const)
    await assert.rejects(
      commands[kind]!(writeCode(kind, request())),
      ({ stderr, code }) => code === 1 && stderr.includes('No such "field"'),
    );
  answer = { data: { done: true } };
});

test('code for the clients is a module with the operation, and nothing in it is taken for code', async () => {
  for (const kind of ['Apollo', 'urql', 'Relay'] as const) {
    const code = writeCode(kind, request());
    const file = path.join(folder, `${kind}.mjs`);
    await writeFile(file, code);
    await run(process.execPath, ['--check', file]);
    const template = /(?:gql|graphql)(`(?:[^`\\]|\\[\s\S])*`)/.exec(code)?.[1] ?? '';
    const module = path.join(folder, `${kind}-text.mjs`);
    await writeFile(module, `export default ${template};`);
    const { default: text } = (await import(pathToFileURL(module).href)) as { default: string };
    const name = kind === 'Relay' ? 'OddQuery' : 'Odd';
    assert.deepEqual(syntax(text), syntax(request().query.replace('query Odd(', `query ${name}(`)));
  }
});

const schema = buildSchema('type Query { a: Int b: Int } type Mutation { c: Int }');
const several = 'query One { ...F } query Two { b } mutation Three { c } fragment F on Query { a }';

test('of several operations, the one at the cursor is copied, with the fragments that it uses', () => {
  const asked = { url: 'http://x', headers: {}, query: several, variables: null };
  for (const kind of codeKinds) {
    const one = writeCode(kind, { ...asked, operationName: 'One' });
    assert.ok((kind === 'Relay' ? /\.\.\. on Query \{\s+a/ : /fragment F/).test(one) && !/Two|Three/.test(one), one);
    assert.throws(() => writeCode(kind, { ...asked, operationName: undefined }), /several operations: put the cursor/);
    assert.throws(() => writeCode(kind, { ...asked, query: 'subscription { a }', operationName: undefined }), /needs a stream/);
    assert.throws(() => writeCode(kind, { ...asked, query: '{', operationName: undefined }), /Correct the document first: Syntax Error/);
    assert.throws(() => writeCode(kind, { ...asked, query: 'fragment F on Query { a }', operationName: undefined }), /no operation/);
  }
  const cyclic = 'query A { ...F } fragment F on Query { a ...F }';
  assert.throws(() => writeCode('Relay', { ...asked, query: cyclic, operationName: 'A' }), /contain each other/);
  assert.throws(() => writeCode('Relay', { ...asked, query: '{ ...G }', operationName: undefined }), /There is no fragment "G"/);
  const relay = writeCode('Relay', { ...asked, operationName: 'Three' });
  const text = /graphql`([^`]*)`/.exec(relay)?.[1] ?? '';
  assert.deepEqual(validate(schema, parse(text)), []);
  assert.match(relay, /^\/\/ Three\.js:[\s\S]*commitMutation\(environment, \{\n {2}mutation: graphql`\n {2}mutation ThreeMutation \{/);
});

test('a document without a name, and one whose name has the ending already, get names that Relay takes', () => {
  const name = (query: string): string =>
    /(?:query|mutation) (\w+)/.exec(
      writeCode('Relay', { url: 'http://x', headers: {}, query, variables: null, operationName: undefined }).split('graphql`')[1]!,
    )?.[1] ?? '';
  assert.deepEqual(['{ a }', 'query list_a { a }', 'query AQuery { a }', 'mutation { c }', 'query Query { a }'].map(name), [
    'AppQuery',
    'ListaQuery',
    'AQuery',
    'AppMutation',
    'AppQuery',
  ]);
});
