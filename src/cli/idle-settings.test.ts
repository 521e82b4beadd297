import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SettingName } from '../settings/settings.ts';
import { developmentSettings, serveSettings } from './command-settings.ts';
import { type CommandSettings, findIdleSettings, readConfiguration } from './config.ts';

type Flags = Readonly<Record<string, string>>;

/** What is said of settings that are given by flags, environment and file. */
function idle<Name extends SettingName>(settings: CommandSettings<Name, never>, flags: Flags, environment: Flags = {}, file?: string) {
  const inputs = { flags, environment, file: file === undefined ? undefined : { name: 'f.json', text: file } };
  return findIdleSettings(settings, readConfiguration(settings, inputs), inputs);
}

const database = { databaseUrl: 'postgres://localhost/shop', jwtSecret: 'a secret that has more than 32 characters' };

test('a setting that does nothing without another one is named as it was given', () => {
  const environment = { ROWGRAPH_PROJECTS_DOMAIN: 'example.com' };
  assert.deepEqual(idle(serveSettings, { ...database, adminHost: '0.0.0.0' }, environment, '{"slowOperationValues": true}'), [
    '"slowOperationValues" in f.json has no effect without --slow-operations',
    '--admin-host has no effect without --admin-port',
    'ROWGRAPH_PROJECTS_DOMAIN has no effect without --projects',
  ]);
  assert.deepEqual(idle(developmentSettings, { documentRoles: 'anon', untrustedRoles: 'anon', onlyTrustedDocuments: 'off' }), [
    '--document-roles has no effect without --trusted-documents',
    '--untrusted-roles has no effect without --only-trusted-documents',
  ]);
});

test('dev opens no database that is named for other commands', () => {
  const environment = { ROWGRAPH_DATABASE_URL: 'postgres://localhost/shop', ROWGRAPH_SCHEMA_TRIGGERS: 'on' };
  const file = '{"databaseUrl": "postgres://localhost/shop"}';
  const sources = { flags: {}, environment, file: { name: 'f.json', text: file } };
  const { databaseUrl, schemaTriggers } = readConfiguration(developmentSettings, sources);
  assert.deepEqual([databaseUrl, schemaTriggers], [undefined, false]);
  assert.deepEqual(idle(developmentSettings, { poolSize: '3' }, environment, file), ['--pool-size has no effect without --database-url']);
  assert.deepEqual(idle(developmentSettings, { poolSize: '3', databaseUrl: 'postgres://localhost/shop' }), []);
});

test('projects take neither a database nor keys from the server', () => {
  assert.deepEqual(idle(serveSettings, { projects: 'p.json', jwtIssuer: 'https://a.example', roleClaim: '.r', schemaTriggers: 'on' }), [
    '--jwt-issuer has no effect without --database-url',
    '--schema-triggers has no effect without --database-url',
  ]);
});

test('API keys have no claims', () => {
  const flags = { databaseUrl: database.databaseUrl, apiKeys: 'keys.json', jwtAudience: 'app', roleClaim: '.r' };
  const without = 'has no effect without --jwt-secret or --previous-jwt-secret or --jwt-keys or --supabase';
  assert.deepEqual(idle(serveSettings, flags), [`--jwt-audience ${without}`, `--role-claim ${without} or --projects`]);
});

test('nothing is said of settings that have an effect, are off, or are not given', () => {
  const flags = { adminHost: '0.0.0.0', adminPort: '0', slowOperationValues: 'on', slowOperations: '1s', schemaTriggers: 'off' };
  assert.deepEqual(idle(serveSettings, { ...database, ...flags }), []);
  assert.deepEqual(idle(serveSettings, { projects: 'p.json', projectIdle: '1min', schemaTriggers: 'off' }), []);
  assert.deepEqual(idle(developmentSettings, { slowOperationValues: 'off', jwtAudience: 'app' }), []);
});
