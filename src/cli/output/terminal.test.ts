import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { paintFor } from './terminal.ts';

const bold = '\u001B[1mbird\u001B[22m';

/** A stream that says whether it is a terminal, in a process whose environment has the user's wishes. */
const program = `
  import { Writable } from 'node:stream';
  import { WriteStream } from 'node:tty';
  import { paintFor } from './src/cli/output/terminal.ts';
  const terminal = Object.assign(new Writable(), { isTTY: true, getColorDepth: WriteStream.prototype.getColorDepth });
  process.stdout.write(paintFor(terminal)('bold', 'bird'));
`;

async function paintOnTerminal(environment: Record<string, string>): Promise<string> {
  const env = { PATH: process.env.PATH, TERM: 'xterm-256color', ...environment };
  const flags = ['--input-type=module-typescript', '--eval', program];
  return (await promisify(execFile)(process.execPath, flags, { cwd: new URL('../../../', import.meta.url), env })).stdout;
}

test('text is styled on a terminal, unless NO_COLOR is set', async () => {
  assert.equal(await paintOnTerminal({}), bold);
  assert.equal(await paintOnTerminal({ NO_COLOR: '1' }), 'bird');
});

test('text that is piped is plain', () => {
  assert.equal(paintFor(new Writable())('bold', 'bird'), 'bird');
});
