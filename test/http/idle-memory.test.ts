/** What a connection keeps in memory between two requests: nothing of the last one's body. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { connectRaw, type RawClient, rawRequest } from './raw-client.ts';
import { startTestServer } from './start-test-server.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const connections = 64;
/** In bytes: much less than what the bodies have together. */
const mostKept = 1024 * 1024;

/** Bytes of buffers that are still reachable. */
async function bytesInUse(): Promise<number> {
  await new Promise(setImmediate);
  collectGarbage();
  // The memory of dead buffers is freed in a later turn.
  await new Promise(setImmediate);
  collectGarbage();
  return process.memoryUsage().arrayBuffers;
}

for (const [what, { length, hasKey, status }] of Object.entries({
  'a long body': { length: 400 * 1024, hasKey: true, status: 200 },
  'the body of a request without a key': { length: 48 * 1024, hasKey: false, status: 401 },
}))
  test(`an idle connection does not keep ${what}`, async () => {
    const server = await startTestServer();
    const body = `{"query":"{ __typename }"${' '.repeat(length)}}`;
    const clients: RawClient[] = [];
    try {
      for (let count = 0; count < connections; count++) clients.push(await connectRaw(server.port));
      const before = await bytesInUse();
      for (const client of clients) {
        client.socket.write(rawRequest(hasKey ? server.anonKey : '', { body }));
        assert.equal((await client.answers(1))[0]?.status, status);
      }
      const kept = (await bytesInUse()) - before;
      assert.ok(kept < mostKept, `${kept} bytes are kept`);
      for (const { socket } of clients) assert.equal(socket.closed, false);
    } finally {
      for (const { socket } of clients) socket.destroy();
      await server.close();
    }
  });
