import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, mock, test } from 'node:test';
import { readConfiguration } from '../config.ts';
import { openTokens, type ProjectConfiguration } from './serve-projects.ts';

let folder: string;
/** The timers that check files. */
const running = new Set<unknown>();

before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'rowgraph-tokens-'));
  await writeFile(path.join(folder, 'keys.json'), '{}');
  await writeFile(path.join(folder, 'revoked.txt'), '[]');
  const [start, end] = [setInterval, clearInterval];
  mock.method(globalThis, 'setInterval', (...parameters: Parameters<typeof setInterval>) => {
    const timer = start(...parameters);
    running.add(timer);
    return timer;
  });
  mock.method(globalThis, 'clearInterval', (timer: NodeJS.Timeout) => {
    running.delete(timer);
    end(timer);
  });
});
after(async () => {
  mock.restoreAll();
  await rm(folder, { recursive: true });
});

function configurationOf(revoked: string): ProjectConfiguration {
  const names = [
    'previousJwtSecret',
    'jwtKeys',
    'supabase',
    'jwtAudience',
    'jwtIssuer',
    'jwtLeeway',
    'roleClaim',
    'tokenRoles',
    'apiKeys',
    'revokedTokens',
  ] as const;
  const flags = { apiKeys: path.join(folder, 'keys.json'), revokedTokens: path.join(folder, revoked) };
  return readConfiguration({ names, required: [], defaults: {} }, { flags, environment: {}, file: undefined }) as ProjectConfiguration;
}

test('the files of a project are watched until it stops, and not at all if one of them is broken', async () => {
  const tokens = await openTokens(configurationOf('revoked.txt'), () => undefined);
  assert.equal(running.size, 2);
  tokens.stop();
  assert.equal(running.size, 0);
  await assert.rejects(
    openTokens(configurationOf('missing.txt'), () => undefined),
    /--revoked-tokens/,
  );
  assert.equal(running.size, 0);
});
