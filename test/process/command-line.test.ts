/** The command line as such: help, and one clear line with exit code 2 for whatever is wrong or missing. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { environmentVariableOf, flagOf, type SettingName, settings } from '../../src/settings/settings.ts';
import { assertRefused, removeFolder, runCommand } from './run-command.ts';
import { makeDevFolder } from './start-dev.ts';

let home: string;
before(async () => {
  home = await makeDevFolder();
});
after(() => removeFolder(home));

const secret = 'a secret that has more than 32 characters';

function refuse(commandArguments: readonly string[], line: RegExp, environment: Record<string, string> = {}): Promise<void> {
  return assertRefused(commandArguments, line, { home, environment });
}

test('--help documents every setting with its environment variable and default', async () => {
  const helps = await Promise.all(['dev', 'serve', 'mcp'].map((command) => runCommand([command, '--help'], { home })));
  const text = helps.map(({ stdout }) => stdout.replaceAll(/\s+/g, ' ')).join();
  for (const name of Object.keys(settings) as SettingName[]) {
    assert.match(text, new RegExp(`${flagOf(name)} [<[]`));
    assert.match(text, new RegExp(`\\(${environmentVariableOf(name)}; (default: .+?|required)\\)`));
  }
});

test('--help fits 80 columns', async () => {
  const helps = await Promise.all(
    [[], ['serve'], ['triggers'], ['projects']].map((command) => runCommand([...command, '--help'], { home })),
  );
  const lines = helps.flatMap(({ stdout }) => stdout.split('\n'));
  assert.deepEqual(
    lines.filter((line) => line.length > 80),
    [],
  );
});

test('a wrong or missing setting is one clear line and exit code 2', async () => {
  await refuse(['serve', '--jwt-secret', secret], /--database-url is missing \(or set ROWGRAPH_DATABASE_URL\)/);
  await refuse(['serve', '--database-url', 'postgres://h/d'], /--jwt-secret is missing \(or set ROWGRAPH_JWT_SECRET\)/);
  await refuse(['dev', '--port', '70000'], /--port must be a whole number from 0 to 65535 \(it is "70000"\)/);
  await refuse(['dev'], /ROWGRAPH_PORT must be a whole number/, { ROWGRAPH_PORT: 'tcp://10.0.0.1:4000' });
  await refuse(['dev', '--introspection', 'maybe'], /--introspection must be one of directive, on, off/);
  await refuse(['dev', '--prot', '1'], /unknown option '--prot' \(Did you mean --port\?\)/);
  await refuse(['dve'], /^rowgraph: unknown command 'dve' \(Did you mean dev\?\)\n$/);
  await refuse(['help', 'dve'], /^rowgraph: unknown command 'dve' \(Did you mean dev\?\)\n$/);
  await refuse(['projects', 'help', 'lst'], /^rowgraph: unknown command 'lst' \(Did you mean list\?\)\n$/);
  await refuse(['triggers', 'upgrade'], /^rowgraph: the action must be install, remove or status \(it is "upgrade"\)\n$/);
  await refuse(['roles', '--grants', 'some'], /^rowgraph: --grants must be none, read or all \(it is "some"\)\n$/);
  await refuse(['dev', '--sql', 'missing.sql'], /^rowgraph: --sql missing\.sql cannot be read: no such file or directory\n$/);
  await refuse(['cost', 'missing.graphql'], /^rowgraph: missing\.graphql cannot be read: no such file or directory\n$/);
  await refuse(['keys', '--jwt-secret', secret, '--expires', 'soon'], /--expires must be a time/);
  for (const role of ['', 'none'])
    await refuse(
      ['keys', '--jwt-secret', secret, '--role', role],
      new RegExp(`^rowgraph: --role must be the name of a database role \\(it is "${role}"\\)\\n$`),
    );
  await refuse(['keys', '--jwt-secret', secret, '--role', 'a', '--claims', '[1]'], /--claims must be a JSON object/);
  await refuse(['keys', '--jwt-secret', secret, '--role', 'a', '--claims', '{'], /--claims must be a JSON object/);
  await refuse(['projects', 'list', '--projects', 'missing.json'], /--projects: ENOENT/);
  await refuse(['serve', '--projects', 'missing.json'], /--projects: ENOENT/);
  await writeFile(path.join(home, 'q.graphql'), '{ __typename }');
  await refuse(['cost', 'q.graphql', '--variables', '{'], /--variables must be a JSON object, such as \{"first": 10\}/);
});

test('a secret is not repeated', async () => {
  await refuse(['keys', '--jwt-secret', 'hunter2'], /^rowgraph: --jwt-secret must have at least 32 characters\n$/);
  await refuse(['serve', '--jwt-secret', secret, '--database-url', 'mysql://u:hunter2@h/d'], /^(?!.*hunter2)/);
  const unreachable = ['--database-url', 'postgres://u:hunter2@127.0.0.1:1/d', '--wait-for-database', '0s'];
  const { code, stderr } = await runCommand(['serve', '--jwt-secret', secret, ...unreachable], { home });
  assert.equal(code, 1);
  assert.match(stderr, /^(?!.*hunter2)rowgraph: .*ECONNREFUSED/);
});

test('a variable that looks like a setting and is none is warned of', async () => {
  const { code, stderr } = await runCommand(['keys', '--jwt-secret', secret], { home, environment: { ROWGRAPH_JWT_SECERT: 'hunter2' } });
  assert.deepEqual([code, stderr], [0, 'rowgraph: WARNING: ROWGRAPH_JWT_SECERT is not a setting and is ignored\n']);
});

test('a setting of serve that has no effect without another is warned of, once', async () => {
  const flags = ['--projects', 'missing.json', '--admin-host', '::', '--workers', '2'];
  const { code, stderr } = await runCommand(['serve', ...flags], { home });
  assert.equal(code, 2);
  assert.match(stderr, /^rowgraph: WARNING: --admin-host has no effect without --admin-port\nrowgraph: --projects: ENOENT[^\n]+\n$/);
});

test('the config file is read, and refused where it is wrong', async () => {
  const write = (text: string): Promise<void> => writeFile(path.join(home, 'rowgraph.config.json'), text);
  await write(JSON.stringify({ jwtSecret: secret, anonRole: 'visitor' }));
  const { stdout } = await runCommand(['keys'], { home });
  assert.match(stdout, /^visitor +ey\S+\nservice_role +ey\S+\n$/);
  await write(JSON.stringify({ jwtSecrte: secret }));
  await refuse(['keys', '--jwt-secret', secret], /rowgraph\.config\.json has "jwtSecrte", which is not a setting/);
  await write('{');
  await refuse(['keys', '--jwt-secret', secret], /rowgraph\.config\.json is not JSON/);
  await refuse(['keys', '--config', 'other.json'], /other\.json cannot be read: no such file or directory\n$/);
});

test('a port that is already in use is an error', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  await writeFile(path.join(home, 'empty.sql'), '');
  await rm(path.join(home, 'rowgraph.config.json'), { force: true });
  for (const [flag, other] of [
    ['--port', '--db-port'],
    ['--db-port', '--port'],
  ] as const) {
    const { code, stdout, stderr } = await runCommand(['dev', flag, String(port), other, '0', '--sql', 'empty.sql'], { home });
    assert.deepEqual({ code, stdout }, { code: 2, stdout: '' });
    assert.match(stderr, new RegExp(`rowgraph: ${flag} ${port} is already in use`));
  }
  server.close();
});
