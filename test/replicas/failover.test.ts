import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRowgraph } from '../../src/index.ts';
import { ask, follow, killServer, promote, sortByReceived } from '../support/standby.ts';
import { until } from '../support/until.ts';
import { type OpenGraph, readItem, startCluster, urlOf, writeItem } from './cluster.ts';

/** Clients that write and read until they are stopped. */
function startLoad({ graph }: OpenGraph) {
  let isStopped = false;
  const acknowledged = new Map<number, number>();
  const counts = { reads: 0, failedReads: 0, writes: 0, failedWrites: 0, stale: 0 };
  const writer = async (id: number): Promise<void> => {
    for (let n = 1; !isStopped; n += 1) {
      await writeItem(graph, `writer ${id}`, id, n).then(
        () => {
          acknowledged.set(id, n);
          counts.writes += 1;
        },
        () => {
          counts.failedWrites += 1;
        },
      );
    }
  };
  const reader = async (id: number): Promise<void> => {
    for (let last = 0; !isStopped; ) {
      const known = acknowledged.get(id) ?? 0;
      try {
        // As the writer: it shows at least what was acknowledged before.
        last = await readItem(graph, `writer ${id}`, id);
        counts.reads += 1;
        if (last < known) counts.stale += 1;
      } catch {
        counts.failedReads += 1;
      }
    }
  };
  const running = Promise.all([1, 2, 3].flatMap((id) => [writer(id), reader(id)]));
  const stop = async (): Promise<void> => {
    isStopped = true;
    await running;
  };
  return { acknowledged, counts, stop };
}

test('a replica that dies under load costs no query, and gets queries again when it is back', async () => {
  const cluster = await startCluster(['0ms', '0ms']);
  try {
    const opened = await cluster.open();
    const load = startLoad(opened);
    const [first] = cluster.standbys;
    const answered = () => opened.graph.readStatistics().replicas!.map((replica) => replica.answered);
    await until(() => answered().every((count) => count > 50));
    await killServer(first!);
    await until(() => opened.graph.readStatistics().replicas?.[0]?.isUsable === false);
    const { reads } = load.counts;
    await until(() => load.counts.reads > reads + 200);
    await first!.restart();
    await until(() => opened.graph.readStatistics().replicas?.[0]?.isUsable);
    const [before] = answered();
    await until(() => answered()[0]! > before!);
    await load.stop();
    const { failedReads, failedWrites, stale } = load.counts;
    assert.deepEqual({ failedReads, failedWrites, stale }, { failedReads: 0, failedWrites: 0, stale: 0 });
  } finally {
    await cluster.stop();
  }
});

test('a promotion under load loses no write that the new primary has, and needs no restart', async () => {
  const cluster = await startCluster(['0ms', '0ms']);
  try {
    const servers = urlOf(cluster.primary, ...cluster.standbys);
    const graph = await createRowgraph({ database: servers, replicaUrl: servers, poolSize: 4 });
    try {
      await until(() => graph.readStatistics().replicas?.filter(({ isUsable }) => isUsable).length === 2);
      const before = await writeItem(graph, 'before', 999, 7);
      const load = startLoad({ graph, events: [] });
      await until(() => load.counts.writes > 50 && load.counts.reads > 50);
      await killServer(cluster.primary);
      // As failover managers do: a standby that had received more could not follow the new primary.
      const [next, other] = await sortByReceived(cluster.standbys);
      assert(next !== undefined && other !== undefined);
      await promote(next);
      await follow(other, next);
      const { writes } = load.counts;
      await until(() => load.counts.writes > writes + 50);
      assert.equal(await readItem(graph, 'somebody', 999, before), 7, 'a position from before still works');
      await load.stop();
      for (const [id, n] of load.acknowledged)
        assert.equal(await readItem(graph, `writer ${id}`, id), n, 'what was acknowledged last is on the new primary');
      // The other standby gets queries once it has replayed a checkpoint of the new timeline.
      await ask(next.url, 'checkpoint');
      await until(async () => {
        await ask(other.url, 'checkpoint');
        return graph.readStatistics().replicas?.some(({ isUsable }) => isUsable);
      });
    } finally {
      await graph.close();
    }
  } finally {
    await cluster.stop();
  }
});
