/** `ROWGRAPH_TEST_PAIRS=10000` runs so many pairs of a write and a read for each delay. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countStale, startCluster } from './cluster.ts';

const pairs = Number(process.env.ROWGRAPH_TEST_PAIRS ?? 400);

for (const delay of ['0ms', '50ms', '500ms']) {
  test(`a caller reads what it wrote from a replica that replays after ${delay}, or from the primary`, async () => {
    const cluster = await startCluster([delay]);
    try {
      const { graph } = await cluster.open();
      const stale = [await countStale(graph, pairs, 'subject'), await countStale(graph, pairs, 'position')];
      assert.deepEqual(stale, [0, 0]);
      if (delay === '500ms') assert.ok((await countStale(graph, pairs, 'none')) > 0, 'who does not say what it wrote may miss it');
      const [replica] = graph.readStatistics().replicas ?? [];
      assert.ok(delay === '50ms' || replica!.answered > 0, 'the replica answers');
      assert.equal(replica!.failed, 0);
    } finally {
      await cluster.stop();
    }
  });
}
