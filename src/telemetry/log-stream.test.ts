import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { until } from '../../test/support/until.ts';
import { LogStream } from './log-stream.ts';

const skip = process.platform !== 'linux' && 'needs a pipe that one descriptor reads and writes, and /dev/full';

/** A pipe that is read and written through one descriptor, without blocking. */
function openPipe(t: TestContext) {
  const folder = mkdtempSync(path.join(tmpdir(), 'rowgraph-log-'));
  const file = path.join(folder, 'pipe');
  execFileSync('mkfifo', [file]);
  const fd = openSync(file, constants.O_RDWR | constants.O_NONBLOCK);
  t.after(() => {
    closeSync(fd);
    rmSync(folder, { recursive: true });
  });
  const chunk = Buffer.alloc(1024 * 1024);
  const read = (): string => {
    try {
      return chunk.toString('latin1', 0, readSync(fd, chunk));
    } catch (error) {
      assert.equal((error as NodeJS.ErrnoException).code, 'EAGAIN');
      return '';
    }
  };
  return { fd, read };
}

test('lines that nobody reads wait, are dropped when there are too many, and are counted when they are read again', { skip }, async (t) => {
  const { fd, read } = openPipe(t);
  const counts: number[] = [];
  const mostBytes = 100_000;
  const log = new LogStream({ fd, mostBytes, onDropped: (lines) => counts.push(lines) });
  const line = `${'x'.repeat(999)}\n`;
  const sent = 300;
  for (let count = 0; count < sent; count += 1) {
    log.write(line);
    // Wait until what fits into the pipe has been written.
    await new Promise(setImmediate);
  }
  assert.deepEqual(counts, []);
  let received = '';
  await until(() => {
    received += read();
    return counts.length > 0;
  });
  received += read();
  const arrived = received.length / line.length;
  assert.equal(received, line.repeat(arrived), 'lines arrive whole');
  assert.deepEqual(counts, [sent - arrived]);
  // A pipe holds 64 kB.
  assert.ok(arrived < (mostBytes + 70_000) / line.length, String(arrived));
  log.write('afterwards\n');
  await until(() => read() === 'afterwards\n');
});

test('a destination that is full takes nothing, and fails nobody', { skip }, async () => {
  // Stays open, because the stream goes on trying, and would write to whatever gets this descriptor next.
  const fd = openSync('/dev/full', 'w');
  const log = new LogStream({ fd, mostBytes: 10, onDropped: () => assert.fail('nothing was written') });
  for (let count = 0; count < 100; count += 1) {
    log.write('line\n');
    await new Promise(setImmediate);
  }
});
