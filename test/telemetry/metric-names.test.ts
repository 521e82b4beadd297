/** Holds the dashboard of Grafana, and the table of docs/telemetry.md, to the metrics that there are, and the other way round. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, test } from 'node:test';
import { WorkerMetrics } from '../../src/cli/serve/worker-messages.ts';
import { createTelemetry } from '../../src/telemetry/create-telemetry.ts';

interface Metric {
  readonly name: string;
  readonly type: string;
  readonly help: string;
}

const read = (file: string): string => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
let metrics: readonly Metric[];
before(async () => {
  const text = (await createTelemetry({ level: 'silent' }).writeMetrics()) + (await new WorkerMetrics(() => []).write());
  const types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => [name, type]));
  metrics = [...text.matchAll(/^# HELP (\S+) (.+)$/gm)].map(([, name = '', help = '']) => ({ name, type: types.get(name) ?? '', help }));
});

interface Dashboard {
  readonly panels: readonly { readonly targets: readonly { readonly expr: string }[] }[];
  readonly templating: { readonly list: readonly { readonly query: string }[] };
}

test('the dashboard asks for metrics that there are, and for all of rowgraph', () => {
  const { panels, templating } = JSON.parse(read('deploy/grafana-dashboard.json')) as Dashboard;
  const expressions = [...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)), ...templating.list.map(({ query }) => query)];
  const asked = new Set(expressions.flatMap((expr) => expr.match(/\b(?:rowgraph|process|nodejs)_\w+/g) ?? []));
  const series = metrics.flatMap(({ name, type }) =>
    type === 'histogram' ? ['_bucket', '_sum', '_count'].map((suffix) => name + suffix) : [name],
  );
  assert.deepEqual(
    [...asked].filter((name) => !series.includes(name)),
    [],
  );
  const own = metrics.filter(({ name }) => name.startsWith('rowgraph_'));
  assert.deepEqual(
    own.filter(({ name }) => ![...asked].some((each) => each.startsWith(name))),
    [],
  );
});

test('docs/telemetry.md lists the metrics with their types and meanings', () => {
  const rows = [...read('docs/telemetry.md').matchAll(/^\| `(rowgraph_\w+|nodejs_eventloop_utilization)` \| (\w+) \| (.+) \|$/gm)];
  const table = metrics.filter(({ name }) => /^rowgraph_|^nodejs_eventloop_utilization$/.test(name));
  const listed = rows.map(([, name = '', type = '', help = '']) => ({ name, type, help }));
  const byName = (one: Metric, other: Metric): number => (one.name < other.name ? -1 : 1);
  assert.deepEqual(listed.sort(byName), [...table].sort(byName));
});
