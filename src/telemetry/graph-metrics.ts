/**
 * The metrics of graphs: their connections, how long PostgreSQL took for batches, and what requests cost. Everything is read when the
 * metrics are requested.
 */
import { Gauge, type Registry } from 'prom-client';
import { byteBounds, rowBounds, secondBounds } from '../distribution.ts';
import type { GraphStatistics } from '../events.ts';
import { addHistogram } from './add-histogram.ts';

/** Null while the graph is not open. */
export type GraphReader = () => GraphStatistics | null;

/** Adds the metrics to the registry, as sums over all graphs. */
export function addGraphMetrics(registry: Registry, readers: readonly GraphReader[]): void {
  const read = (): GraphStatistics[] => readers.flatMap((reader) => reader() ?? []);
  new Gauge({
    name: 'rowgraph_pool_connections',
    help: 'Database connections: running batches (busy), open and free (idle), and the maximum (size).',
    labelNames: ['state'] as const,
    registers: [registry],
    collect() {
      const pools = read().flatMap(({ pool }) => pool ?? []);
      for (const state of ['busy', 'idle', 'size'] as const)
        this.set(
          { state },
          pools.reduce((sum, pool) => sum + pool[state], 0),
        );
    },
  });
  new Gauge({
    name: 'rowgraph_pool_waiting',
    help: 'Batches waiting for a database connection.',
    registers: [registry],
    collect() {
      this.set(read().reduce((sum, { pool }) => sum + (pool?.waiting ?? 0), 0));
    },
  });
  const batchSeconds = {
    name: 'rowgraph_batch_duration_seconds',
    help: 'Time from sending a batch to PostgreSQL to the end of its reply.',
  };
  addHistogram(registry, batchSeconds, secondBounds, () => read().map((graph) => graph.batchSeconds));
  const batchBytes = { name: 'rowgraph_batch_row_bytes', help: 'Bytes in the rows that PostgreSQL returned for a batch.' };
  addHistogram(registry, batchBytes, byteBounds, () => read().map((graph) => graph.batchBytes));
  const rows = {
    name: 'rowgraph_query_estimated_rows',
    help: 'Rows that a query may read, as estimated for the limit estimatedRows.',
  };
  addHistogram(registry, rows, rowBounds, () => read().map((graph) => graph.estimatedRows));
}
