/** The files of deploy/ for containers, Kubernetes and systemd: what can be run of them here runs, the rest is held to what they promise. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { parse, parseAllDocuments } from 'yaml';
import { serveSettings } from '../../src/cli/command-settings.ts';
import { roleStatements } from '../../src/cli/commands/roles.ts';
import { findUnknownVariables, readConfiguration } from '../../src/cli/config.ts';
import { startTestServer } from '../http/start-test-server.ts';
import { startTestGraph } from '../support/test-graph.ts';

const run = promisify(execFile);
const deploy = path.join(import.meta.dirname, '../../deploy');
const read = (file: string): Promise<string> => readFile(path.join(deploy, file), 'utf8');
type Environment = Readonly<Record<string, string>>;

/** What comes from secrets. */
const secrets = { ROWGRAPH_DATABASE_URL: 'postgres://authenticator:password@postgres:5432/app', ROWGRAPH_JWT_SECRET: 'x'.repeat(32) };

/** The settings that `rowgraph serve` reads from an environment. Fails for a variable that is no setting, and a value that is none of it. */
function settingsOf(environment: Environment) {
  assert.deepEqual(findUnknownVariables(environment), []);
  return readConfiguration(serveSettings, { flags: {}, environment: { ...environment, ...secrets }, file: undefined });
}

/** Milliseconds that a stop may take (docs/deployment.md, Stop). */
function stopTime({ drainDelay, closeTimeout }: ReturnType<typeof settingsOf>): number {
  return drainDelay + closeTimeout + 5000;
}

interface Instruction {
  readonly name: string;
  readonly value: string;
}

async function readDockerfile(): Promise<readonly Instruction[]> {
  const lines = (await read('Dockerfile')).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return lines.map((line) => ({ name: line.split(' ', 1)[0]!, value: line.slice(line.indexOf(' ') + 1) }));
}

test('the image runs as an ordinary user, from a base of a known version, with settings that exist', async () => {
  const instructions = await readDockerfile();
  const final = instructions.slice(instructions.findLastIndex(({ name }) => name === 'FROM'));
  const valueOf = (name: string): string => final.find((each) => each.name === name)?.value ?? assert.fail(name);
  for (const { name, value } of instructions) if (name === 'FROM') assert.match(value, /^node:\d+-[a-z]+-slim( AS build)?$/);
  assert.match(valueOf('USER'), /^[1-9]\d*:[1-9]\d*$/);
  assert.ok(
    final.findIndex(({ name }) => name === 'USER') > final.findIndex(({ name }) => name === 'RUN'),
    'it installs as root and runs as another',
  );
  assert.deepEqual([JSON.parse(valueOf('ENTRYPOINT')).length, JSON.parse(valueOf('CMD'))], [1, ['serve']]);
  const environment = Object.fromEntries(
    valueOf('ENV')
      .split(' ')
      .map((pair) => pair.split('=') as [string, string]),
  );
  const { host, port } = settingsOf(environment);
  assert.deepEqual([host, port], ['0.0.0.0', Number(valueOf('EXPOSE'))]);
});

test('the image has the optional package of agents, in the version that rowgraph was tested with', async () => {
  const { optionalDependencies } = JSON.parse(await readFile(path.join(deploy, '../package.json'), 'utf8'));
  const packages = Object.entries(optionalDependencies).filter(([name]) => name.startsWith('@modelcontextprotocol/'));
  const install = (await readDockerfile()).findLast(({ name }) => name === 'RUN')?.value ?? '';
  for (const [name, version] of packages) assert.ok(install.includes(` ${name}@${version} `), name);
});

test("the image's health check says whether the server is ready", async (context) => {
  const instructions = await readDockerfile();
  const check = instructions.find(({ name }) => name === 'HEALTHCHECK')?.value ?? '';
  const [program, ...flags] = JSON.parse(check.slice(check.indexOf('CMD ') + 4)) as string[];
  assert.equal(program, 'node');
  const server = await startTestServer();
  const broken = await startTestServer({ ping: () => Promise.reject(new Error('no')) });
  context.after(() => Promise.all([server.close(), broken.close()]));
  const exitCodeOf = (port: number): Promise<number> =>
    run(process.execPath, flags, { env: { ROWGRAPH_PORT: String(port) } }).then(
      () => 0,
      ({ code }: { code: number }) => code,
    );
  assert.deepEqual(await Promise.all([exitCodeOf(server.port), exitCodeOf(broken.port), exitCodeOf(1)]), [0, 1, 1]);
});

test('compose: nothing without a password, nothing open to the network, and the service is as small as it can be', async () => {
  const { services, volumes } = parse(await read('compose.yaml'));
  const { postgres, rowgraph } = services;
  for (const [name, value] of Object.entries({ ...postgres.environment, ...rowgraph.environment }))
    if (/PASSWORD|SECRET|URL/.test(name)) assert.match(String(value), /\$\{\w+:\?set \w+\}/, name);
  const settings = settingsOf(rowgraph.environment);
  assert.equal(settings.strict, true);
  assert.ok(Number.parseInt(rowgraph.stop_grace_period, 10) * 1000 >= stopTime(settings));
  assert.deepEqual([postgres.ports, rowgraph.ports], [undefined, ['127.0.0.1:4000:4000']]);
  assert.deepEqual([rowgraph.read_only, rowgraph.cap_drop, rowgraph.security_opt], [true, ['ALL'], ['no-new-privileges:true']]);
  assert.deepEqual([rowgraph.depends_on.postgres.condition, typeof postgres.healthcheck.test], ['service_healthy', 'object']);
  assert.match(postgres.image, /^postgres:\d+$/);
  assert.ok(rowgraph.mem_limit && rowgraph.restart && postgres.restart);
  for (const volume of postgres.volumes as string[]) {
    const [source = ''] = volume.split(':');
    if (source.startsWith('./')) await read(source);
    else assert.ok(source in volumes, source);
  }
  await read(path.relative('deploy', rowgraph.build.dockerfile));
});

test('the roles of compose are those of `rowgraph roles`', async () => {
  assert.equal(await read('roles.sql'), roleStatements({ schemas: ['public'], anonRole: 'anon', grants: 'none', password: null }));
});

/** Takes back what every test database grants, so that only the grants of the page and of compose count. */
const withoutTestGrants = 'alter default privileges in schema public revoke all on tables from anon, authenticated, service_role;';

test('docs/start.md: its table and its requests, with the roles of compose', async (context) => {
  const page = await readFile(path.join(deploy, '../docs/start.md'), 'utf8');
  const table = /<<'SQL'\n([\s\S]*?)\nSQL\n/.exec(page)?.[1] ?? '';
  const { graph, stop } = await startTestGraph(`${withoutTestGrants} ${await read('roles.sql')} ${table}`);
  context.after(stop);
  const [insert, select, ...more] = [...page.matchAll(/^ask '(.*)'$/gm)].map(([, body = '']) => JSON.parse(body));
  assert.deepEqual(more, []);
  const ada = { role: 'authenticated', claims: { sub: 'ada' } };
  assert.deepEqual(await graph.execute(insert, ada), { data: { insertIntonoteCollection: { affectedCount: 1 } } });
  assert.deepEqual(await graph.execute(select, ada), { data: { noteCollection: { edges: [{ node: { text: 'hello', owner: 'ada' } }] } } });
  const eve = { role: 'authenticated', claims: { sub: 'eve' } };
  assert.deepEqual(await graph.execute(select, eve), { data: { noteCollection: { edges: [] } } });
  assert.match(JSON.stringify(await graph.execute(select, { role: 'anon' })), /unknown field|Cannot query field/i);
});

test('Kubernetes: probes, limits, an ordinary user, and time to stop', async () => {
  const documents = parseAllDocuments(await read('kubernetes.yaml'));
  for (const document of documents) assert.deepEqual([document.errors, document.warnings], [[], []]);
  const all = documents.map((document) => document.toJS());
  const byKind = Object.fromEntries(all.map((each) => [each.kind, each]));
  const { ConfigMap: config, Deployment: deployment, Service: service, PodDisruptionBudget: budget } = byKind;
  const { template, selector } = deployment.spec;
  const pod = template.spec;
  const [container] = pod.containers;
  for (const each of [selector.matchLabels, service.spec.selector, budget.spec.selector.matchLabels])
    assert.deepEqual(each, template.metadata.labels);
  const settings = settingsOf(config.data);
  assert.ok(pod.terminationGracePeriodSeconds * 1000 >= stopTime(settings) && settings.drainDelay > 0);
  assert.deepEqual(
    [container.envFrom, container.env.map(({ name }: { name: string }) => name)],
    [[{ configMapRef: { name: config.metadata.name } }], Object.keys(secrets)],
  );
  for (const { valueFrom } of container.env) assert.ok(valueFrom.secretKeyRef);
  // The variable ROWGRAPH_PORT of a service of this name would be taken for a setting.
  assert.equal(pod.enableServiceLinks, false);
  assert.equal(pod.automountServiceAccountToken, false);
  assert.equal(pod.securityContext.runAsNonRoot, true);
  assert.ok(pod.securityContext.runAsUser > 0);
  const { allowPrivilegeEscalation, readOnlyRootFilesystem, capabilities } = container.securityContext;
  assert.deepEqual([allowPrivilegeEscalation, readOnlyRootFilesystem, capabilities], [false, true, { drop: ['ALL'] }]);
  assert.ok(container.resources.limits.memory && container.resources.requests.cpu && container.resources.requests.memory);
  const paths = [container.livenessProbe, container.readinessProbe].map(({ httpGet }) => [httpGet.path, httpGet.port]);
  assert.deepEqual(paths, [
    ['/health/live', 'http'],
    ['/health/ready', 'http'],
  ]);
  assert.deepEqual(
    [container.ports[0].name, container.ports[0].containerPort, service.spec.ports[0].targetPort],
    ['http', settings.port, 'http'],
  );
});

test('systemd: a unit that it accepts, with settings that exist and time to stop', async (context) => {
  const unit = await read('rowgraph.service');
  const valuesOf = (name: string): string[] => [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value = '']) => value);
  const environment = Object.fromEntries(
    valuesOf('Environment').flatMap((line) => line.split(' ').map((pair) => pair.split('=') as [string, string])),
  );
  const settings = settingsOf(environment);
  assert.equal(settings.strict, true);
  assert.ok(Number.parseInt(valuesOf('TimeoutStopSec')[0]!, 10) * 1000 >= stopTime(settings));
  assert.deepEqual([valuesOf('DynamicUser'), valuesOf('NoNewPrivileges'), valuesOf('RestartPreventExitStatus')], [['yes'], ['yes'], ['2']]);
  assert.match(valuesOf('ExecStart')[0]!, /rowgraph\/dist\/cli\/main\.js serve$/);
  const hasSystemd = await run('systemd-analyze', ['--version']).then(
    () => true,
    () => false,
  );
  if (!hasSystemd) return context.diagnostic('not verified: there is no systemd-analyze on the path');
  const { stdout, stderr } = await run('systemd-analyze', ['verify', path.join(deploy, 'rowgraph.service')]);
  // It may say something of the units that this one names.
  const said = `${stdout}${stderr}`.split('\n').filter((line) => line.includes('rowgraph'));
  assert.deepEqual(said, []);
});
