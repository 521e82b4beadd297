import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import pg from 'pg';
import { startPostgres } from './postgres.ts';
import { until } from './until.ts';

test('a server has the given settings, and leaves nothing behind', async () => {
  const server = await startPostgres({ settings: { work_mem: '7MB' } });
  const folder = path.dirname(await show(server.url, 'data_directory'));
  assert.deepEqual(
    [await show(server.url, 'work_mem'), await show(server.url, 'timezone'), await show(server.url, 'lc_messages')],
    ['7MB', 'UTC', 'C'],
  );
  await Promise.all([server.stop(), server.stop()]);
  assert.equal(existsSync(folder), false);
});

test('a server ends with the process that started it, even if that is killed', async () => {
  const program = `
    import { startPostgres } from './postgres.ts';
    console.log((await startPostgres()).url);
    setInterval(() => undefined, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module-typescript', '--eval', program], { cwd: import.meta.dirname });
  const [url] = (await child.stdout.setEncoding('utf8').take(1).toArray()) as [string];
  const folder = path.dirname(await show(url.trim(), 'data_directory'));
  child.kill('SIGKILL');
  await until(() => !existsSync(folder));
});

async function show(url: string, setting: string): Promise<string> {
  const client = new pg.Client(url);
  await client.connect();
  const { rows } = await client.query({ text: `show ${setting}`, rowMode: 'array' });
  await client.end();
  return String(rows[0]?.[0]);
}
