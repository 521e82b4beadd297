import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SettingName } from '../settings/settings.ts';
import { ConfigurationError, type ConfigurationInputs, findUnknownVariables, readConfiguration, userCacheFolder } from './config.ts';

const nowhere: ConfigurationInputs = { flags: {}, environment: {}, file: undefined };

function read<Name extends SettingName>(names: readonly Name[], inputs: Partial<ConfigurationInputs>) {
  return readConfiguration({ names, required: [], defaults: {} }, { ...nowhere, ...inputs });
}

function problemsOf(names: readonly SettingName[], inputs: Partial<ConfigurationInputs>): readonly string[] {
  try {
    read(names, inputs);
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
  }
  return assert.fail('it was taken');
}

test('precedence: flag, environment, file, default of the command, default of the setting', () => {
  const file = { name: 'f.json', text: '{"port": 3, "host": "file"}' };
  const command = { names: ['port'], required: [], defaults: { port: 5 } } as const;
  const port = (inputs: Partial<ConfigurationInputs>): number => readConfiguration(command, { ...nowhere, ...inputs }).port;
  assert.equal(port({ flags: { port: '1' }, environment: { ROWGRAPH_PORT: '2' }, file }), 1);
  assert.equal(port({ environment: { ROWGRAPH_PORT: '2' }, file }), 2);
  assert.equal(port({ environment: { ROWGRAPH_PORT: '' }, file }), 3);
  assert.equal(port({}), 5);
  assert.equal(read(['port'], {}).port, 4000);
});

test('values are typed and checked', () => {
  const flags = { schemas: 'public, app', prepare: 'off', bodyLimit: '2MB', poolSize: '3', corsOrigins: '-' };
  assert.deepEqual(read(['schemas', 'prepare', 'bodyLimit', 'poolSize', 'corsOrigins'], { flags }), {
    schemas: ['public', 'app'],
    prepare: false,
    bodyLimit: 2 * 1024 * 1024,
    poolSize: 3,
    corsOrigins: [],
  });
  const file = { name: 'f.json', text: '{"schemas": ["a", "b"], "prepare": false, "poolSize": 4}' };
  assert.deepEqual(read(['schemas', 'prepare', 'poolSize'], { file }), { schemas: ['a', 'b'], prepare: false, poolSize: 4 });
});

test('origins are those that browsers send', () => {
  const originsOf = (corsOrigins: string) => read(['corsOrigins'], { flags: { corsOrigins } }).corsOrigins;
  const accepted = ['*', 'null', 'https://app.example', 'http://localhost:5173', 'http://[::1]:8080', 'capacitor://localhost'];
  assert.deepEqual(originsOf(accepted.join(', ')), accepted);
  for (const never of ['app.example', 'https://app.example/', 'https://App.example', 'https://app.example:443', 'https://*.example', '/']) {
    assert.deepEqual(problemsOf(['corsOrigins'], { flags: { corsOrigins: never } }), [
      `--cors-origins must be origins such as https://example.com, without a path, separated by commas (it is ${JSON.stringify(never)})`,
    ]);
  }
});

test('lists of names replace `all`, and sizes replace `off`', () => {
  const configuration = read(['additions', 'persistedQueries'], { flags: { additions: 'groups, nestedWrites', persistedQueries: '2MB' } });
  assert.deepEqual(configuration, { additions: ['groups', 'nestedWrites'], persistedQueries: 2 * 1024 * 1024 });
  const without = read(['additions', 'persistedQueries'], { flags: { additions: '-', persistedQueries: 'off' } });
  assert.deepEqual(without, { additions: [], persistedQueries: 'off' });
  assert.throws(() => read(['persistedQueries'], { flags: { persistedQueries: '63kb' } }), /must be a size from 64kb to 1024mb/);
  const [problem = ''] = problemsOf(['additions'], { flags: { additions: 'groups,others' } });
  assert.match(problem, /^--additions must name additions: relationFilters, .*nestedWrites.* \(it is "groups,others"\)$/);
});

test('a number that can also be switched on and off has a usual value', () => {
  const batchOf = (text: string): unknown => read(['maxBatch'], { flags: { maxBatch: text } }).maxBatch;
  assert.deepEqual(['on', 'off', '1', '1000'].map(batchOf), [10, 'off', 1, 1000]);
  assert.equal(read(['maxBatch'], {}).maxBatch, 'off');
  assert.equal(read(['maxBatch'], { file: { name: 'f.json', text: '{"maxBatch": true}' } }).maxBatch, 10);
  assert.deepEqual(problemsOf(['maxBatch'], { environment: { ROWGRAPH_MAX_BATCH: 'yes' } }), [
    'ROWGRAPH_MAX_BATCH must be a whole number from 1 to 1000, on or off (it is "yes")',
  ]);
  assert.deepEqual(problemsOf(['maxBatch'], { flags: { maxBatch: '0' } }), [
    '--max-batch must be a whole number from 1 to 1000 (it is "0")',
  ]);
});

test('a time is a number with a unit, and becomes milliseconds', () => {
  const timeOf = (closeTimeout: string): number => read(['closeTimeout'], { flags: { closeTimeout } }).closeTimeout;
  assert.deepEqual(['500ms', '30s', '2min', '1h', '0s', '0'].map(timeOf), [500, 30_000, 120_000, 3_600_000, 0, 0]);
  assert.equal(read(['closeTimeout'], {}).closeTimeout, 10_000);
  for (const wrong of ['30', '1.5s', '-1s', '1 s', 's', '25h', '2d']) {
    assert.deepEqual(problemsOf(['closeTimeout'], { flags: { closeTimeout: wrong } }), [
      `--close-timeout must be a time from 0s to 24h, such as 500ms, 30s or 2min (it is ${JSON.stringify(wrong)})`,
    ]);
  }
});

test('a path or a header is accepted unchanged unless it could inject something', () => {
  for (const basePath of ['/api', '/api/v1.2/~me_-']) assert.equal(read(['basePath'], { flags: { basePath } }).basePath, basePath);
  for (const basePath of ['api', '/', '/api/', '//x', '/a?b', '/a b', '/a%2fb'])
    assert.equal(problemsOf(['basePath'], { flags: { basePath } }).length, 1, basePath);
  for (const cacheControl of ['no-store', 'private, max-age=60', 'private="set-cookie",max-age=0'])
    assert.equal(read(['cacheControl'], { flags: { cacheControl } }).cacheControl, cacheControl);
  for (const cacheControl of ['max age', 'private,', 'max-age=', 'no-store\r\nset-cookie: a=b', 'private="a\nb"', 'private="a'])
    assert.equal(problemsOf(['cacheControl'], { flags: { cacheControl } }).length, 1, cacheControl);
  for (const trustProxy of ['10.0.0.0/8, ::1', 'loopback,uniquelocal'])
    assert.equal(read(['trustProxy'], { flags: { trustProxy } }).trustProxy, trustProxy);
  for (const trustProxy of ['somewhere', '10.0.0.0/33', 'loopback,'])
    assert.equal(problemsOf(['trustProxy'], { flags: { trustProxy } }).length, 1, trustProxy);
});

test('each problem is one line that names its origin, and shows no secret', () => {
  assert.deepEqual(problemsOf(['port', 'jwtSecret'], { flags: { port: '-1' }, environment: { ROWGRAPH_JWT_SECRET: 'short' } }), [
    '--port must be a whole number from 0 to 65535 (it is "-1")',
    'ROWGRAPH_JWT_SECRET must have at least 32 characters',
  ]);
  assert.deepEqual(problemsOf(['prepare'], { file: { name: 'f.json', text: '{"prepare": 1}' } }), [
    '"prepare" in f.json must be one of on, off (it is "1")',
  ]);
  assert.deepEqual(problemsOf(['bodyLimit'], { flags: { bodyLimit: '0' } }), [
    '--body-limit must be a size from 1kb to 1024mb, such as 512kb or 2mb (it is "0")',
  ]);
  assert.deepEqual(problemsOf(['port'], { file: { name: 'f.json', text: '[]' } }), ['f.json must hold a JSON object']);
  assert.deepEqual(problemsOf(['port'], { file: { name: 'f.json', text: '{"jwtSecret":\nswordfish}' } }), ['f.json is not JSON']);
});

test('a missing setting is reported under both of its names', () => {
  const required = { names: ['databaseUrl'], required: ['databaseUrl'], defaults: {} } as const;
  assert.throws(
    () => readConfiguration(required, nowhere),
    /^ConfigurationError: --database-url is missing \(or set ROWGRAPH_DATABASE_URL\)/,
  );
});

test('the cache folder follows the conventions of the platform', () => {
  assert.equal(userCacheFolder({}, 'linux', '/home/a'), '/home/a/.cache/rowgraph');
  assert.equal(userCacheFolder({ XDG_CACHE_HOME: '/c' }, 'linux', '/home/a'), '/c/rowgraph');
  assert.equal(userCacheFolder({}, 'darwin', '/Users/a'), '/Users/a/Library/Caches/rowgraph');
  assert.equal(userCacheFolder({ LOCALAPPDATA: 'C:\\L' }, 'win32', 'C:\\U'), 'C:\\L\\rowgraph');
});

test('variables that look like settings but are not are found', () => {
  const environment = { ROWGRAPH_PORT: '1', ROWGRAPH_CONFIG: 'f.json', ROWGRAPH_POOLSIZE: '3', PATH: '', ROWGRAPH_: '' };
  assert.deepEqual(findUnknownVariables(environment), ['ROWGRAPH_POOLSIZE', 'ROWGRAPH_']);
});
