/**
 * The README and the tour as somebody follows them in a fresh clone: its commands run in one shell, its requests are sent, and what comes back is what the
 * page shows. The test puts its own port in place of 4000, and the printed keys in place of `…`; nothing else is changed.
 */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createRowgraph } from '../../src/index.ts';
import { removeFolder, runCommand } from './run-command.ts';
import { ask, makeDevFolder, type Printed, startDev } from './start-dev.ts';

const run = promisify(execFile);
const root = new URL('../../', import.meta.url);
const read = (file: string): Promise<string> => readFile(new URL(file, root), 'utf8');
/** Why the commands cannot run here, if they cannot. */
const withoutCurl = spawnSync('curl', ['--version']).error === undefined ? false : 'curl is not installed';
const ada = '{"sub":"00000000-0000-4000-8000-000000000001"}';

let home: string;
let printed: Printed;
before(async () => {
  home = await makeDevFolder();
  printed = await startDev(home);
});
after(async () => {
  await printed?.command.stop();
  await removeFolder(home);
});

/** As text, without the layout: the order of the keys counts. */
const compact = (json: string): string => JSON.stringify(JSON.parse(json));

interface Step {
  readonly command: string;
  /** What the page shows below it. */
  readonly output: string | undefined;
}

async function readSteps(): Promise<Step[]> {
  const blocks = (await read('README.md')).matchAll(/^```sh\n([\s\S]*?)^```\n(?:```json\n([\s\S]*?)^```)?/gm);
  return [...blocks].map(([, command = '', output]) => ({ command, output }));
}

test('the scripts behind the two commands to begin with are those that the other tests start', async () => {
  const [first, ...steps] = await readSteps();
  const last = steps.at(-1);
  const { scripts, repository } = JSON.parse(await read('package.json')) as {
    scripts: Record<string, string>;
    repository: { url: string };
  };
  const clone = `git clone ${repository.url.replace('git+', '')} && cd rowgraph\n`;
  assert.deepEqual([first?.command, last?.command], [`${clone}npm ci && npm start\n`, 'npm ci && npm test\n']);
  assert.deepEqual([scripts.start, scripts.test], ['node src/cli/main.ts dev', 'node test/run.ts']);
});

test('npm start prints what the README says', async () => {
  const shown = /<!-- printed by npm start -->\n```\n([\s\S]*?)```/.exec(await read('README.md'))?.[1] ?? '';
  const withoutValues = (text: string): string => text.replace(/(127\.0\.0\.1:)\d+/g, '$1').replace(/((?:secret|key): +)\S+/g, '$1');
  assert.ok(shown.split('\n').length > 6);
  assert.ok(withoutValues(printed.text).includes(withoutValues(shown)), printed.text);
});

// The tour names an id, which is that of the first sighting that is added.
test('the requests of the tour have the responses that it shows', async () => {
  const page = await read('docs/tour.md');
  const steps = [...page.matchAll(/<!-- asked by (\w+) -->\n```graphql\n([\s\S]*?)```\n```json\n([\s\S]*?)```/g)];
  assert.ok(steps.length >= 5, String(steps.length));
  const signing = ['keys', '--jwt-secret', printed.facts['JWT secret'] ?? '', '--role', 'authenticated', '--claims', ada];
  const tokens = new Map([
    ['anon', undefined],
    ['Ada', (await runCommand(signing, { home })).stdout.trim()],
  ]);
  for (const [, name = '', query = '', answer = ''] of steps) {
    assert.ok(tokens.has(name), `docs/tour.md: nobody is called ${name}`);
    assert.equal(JSON.stringify(await ask(printed, query, 'anon key', tokens.get(name))), compact(answer), query);
  }
});

test('the commands of the README print what it shows', { skip: withoutCurl }, async () => {
  const steps = (await readSteps()).slice(1, -1);
  const outputs = steps.flatMap(({ output }) => (output === undefined ? [] : [output]));
  assert.ok(outputs.length >= 2);
  const values: Readonly<Record<string, string | undefined>> = {
    ANON_KEY: printed.facts['anon key'],
    JWT_SECRET: printed.facts['JWT secret'],
  };
  const divider = '--- the next step ---';
  const script = steps.map(({ command, output }) => {
    // What prints nothing that the page shows can only be a key to paste.
    if (output === undefined) assert.match(command, /^(\w+=…\n)+$/);
    const filled = command.replace(/^(\w+)=…$/gm, (_line, name: string) => `${name}=${values[name]}`);
    return output === undefined ? filled : `${filled}echo; echo '${divider}'\n`;
  });
  const own = script.join('').replaceAll('http://127.0.0.1:4000', new URL(printed.facts['GraphQL URL'] ?? '').origin);
  const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', own], { cwd: fileURLToPath(root) });
  assert.deepEqual(stdout.split(divider).slice(0, -1).map(compact), outputs.map(compact));
});

test('the picture of docs/performance.md shows the statement of its query', async () => {
  const graph = await createRowgraph({ database: printed.facts['DB URL'] ?? '', poolSize: 1 });
  try {
    const picture = await read('docs/images/one-statement.svg');
    const textOf = (part: string): string => {
      const lines = [...picture.matchAll(new RegExp(`<text class="code ${part}"[^>]*>(.*)</text>`, 'g'))].map(([, line = '']) => line);
      return lines.join('\n').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
    };
    const request = { query: textOf('query') };
    const { statements } = await graph.explain(request, { role: 'anon' });
    const withoutLayout = (sql: string): string => sql.replace(/\s/g, '');
    assert.equal(statements.length, 1);
    // `npm start` installs the event triggers: behind `select`, the statement checks the version of the schema first.
    assert.ok(withoutLayout(statements[0]?.text ?? '').endsWith(withoutLayout(textOf('sql')).replace(/^select/, '')));
    assert.equal(JSON.stringify(await graph.execute(request, { role: 'anon' })), compact(textOf('json')));
  } finally {
    await graph.close();
  }
});

/** What the commands of a page print that ask `https://example.com`, as the anonymous role and as Ada. */
async function runCommandsOf(page: string, times = 1): Promise<string[]> {
  const commands = [...(await read(page)).matchAll(/^```sh\n(curl [\s\S]*?)^```/gm)].map(([, command = '']) => command);
  assert.ok(commands.length > 0, page);
  const signing = ['keys', '--jwt-secret', printed.facts['JWT secret'] ?? '', '--role', 'authenticated', '--claims', ada];
  const TOKEN = (await runCommand(signing, { home })).stdout.trim();
  const { origin } = new URL(printed.facts['GraphQL URL'] ?? '');
  const environment = { PATH: process.env['PATH'], KEY: printed.facts['anon key'], TOKEN };
  const answers: string[] = [];
  for (const command of commands.flatMap((each) => Array.from({ length: times }, () => each))) {
    const own = command.replaceAll('https://example.com', origin).replace(/^curl /, 'curl --silent --show-error ');
    answers.push((await run('bash', ['-euo', 'pipefail', '-c', own], { env: environment })).stdout);
  }
  return answers;
}

test('the command of docs/http.md gets its rows', { skip: withoutCurl }, async () => {
  const [answer = ''] = await runCommandsOf('docs/http.md');
  const { data } = JSON.parse(answer) as { data: { speciesCollection: { edges: unknown[] } } };
  assert.equal(data.speciesCollection.edges.length, 3);
});

test('the command of docs/idempotency.md runs once, however often it is sent', { skip: withoutCurl }, async () => {
  const [first = '', second = ''] = await runCommandsOf('docs/idempotency.md', 2);
  const bodyOf = (answer: string): string => answer.slice(answer.indexOf('\r\n\r\n')).trim();
  assert.match(bodyOf(first), /^\{"data":\{"reportSighting":\{"id":"\d+"\}\}\}$/);
  assert.equal(bodyOf(second), bodyOf(first));
  assert.deepEqual(
    [first, second].map((answer) => /^Idempotency-Replayed: true/im.test(answer)),
    [false, true],
  );
});
