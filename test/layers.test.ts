/**
 * Checks the layers against the import graph of `src`: which files may import which, as types or as values, and which packages. The table
 * is the design: to add an edge is to change the design, so explain it in ARCHITECTURE.md.
 */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

/** What the files in a folder (or a file in the root) may import. Their own folder is always allowed. */
interface Layer {
  /** Folders or files whose types and values may be imported. */
  readonly values?: readonly string[];
  /** Folders or files from which only types may be imported. */
  readonly types?: readonly string[];
  readonly packages?: readonly string[];
  /** Whether it may use Node's own modules: pure stages may not. */
  readonly node?: boolean;
}

const layers: Readonly<Record<string, Layer>> = {
  // How much a request may take: counts, time, and turns of the event loop.
  budget: {},
  // Every error that a client may see: codes, what PostgreSQL's errors mean, what statements raise themselves.
  errors: {},
  // The table of settings and options: their kinds, defaults and checks. Every room may read it.
  settings: { values: ['budget'], node: true },
  sql: {},
  database: {
    values: ['budget', 'settings', 'sql', 'statistics.ts', 'database/wire'],
    packages: ['pg', '@electric-sql/pglite'],
    node: true,
  },
  'database/wire': {
    values: [
      'database/database.ts',
      'database/session-statement.ts',
      'database/node-settings.ts',
      'database/to-database-error.ts',
      'budget/deadline.ts',
    ],
    packages: ['pg'],
    node: true,
  },
  // What rowgraph installs in a database, and how.
  extension: { types: ['database'] },
  catalog: { values: ['budget/turns.ts', 'settings/check-settings.ts'], types: ['database'] },
  // The table of PostgreSQL's types: what each can do, for all stages that read a model.
  'model/types': { types: ['catalog', 'model'] },
  model: { values: ['model/types', 'settings/additions.ts'], types: ['catalog'] },
  // The names of types are decided where it is known which names are taken.
  schema: {
    values: [
      'budget/turns.ts',
      'model/naming/filter-names.ts',
      'model/naming/graphql-names.ts',
      'model/naming/names.ts',
      'model/tables/column-uses.ts',
      'model/relations/related-rows.ts',
      'model/relations/writable-relations.ts',
      'model/types',
    ],
    types: ['model', 'settings/additions.ts'],
    packages: ['graphql'],
  },
  // Accessors read what a field of the schema means, and some types are recognized by identity.
  request: {
    values: [
      'budget',
      'schema/bindings.ts',
      'schema/value-types.ts',
      'schema/lazy/graphql-internals.ts',
      'schema/tables/value-filters.ts',
      'model/types',
    ],
    types: ['schema', 'model'],
    packages: ['graphql'],
  },
  introspection: {
    values: [
      'schema/build-schema.ts',
      'schema/lazy/lazy-object-type.ts',
      'schema/lazy/graphql-internals.ts',
      'request/select/collect-fields.ts',
      'model/types',
    ],
    types: ['schema', 'request', 'model'],
    packages: ['graphql'],
  },
  plan: {
    values: ['request/operation.ts', 'budget', 'model/tables/column-uses.ts', 'model/types', 'plan/traits'],
    types: ['request', 'model', 'schema', 'catalog/catalog.ts'],
  },
  // What each kind of order value and filter is, for all stages that read a plan.
  'plan/traits': { values: ['model/types'], types: ['plan', 'model'] },
  'plan/plan-operation.ts': { values: ['plan', 'nested-writes/plan', 'request/operation.ts'], types: ['model'] },
  // The reason for which a request was rejected may be an outdated schema.
  freshness: {
    values: [
      'sql',
      'database',
      'extension',
      'budget',
      'request/validate/parse-document.ts',
      'catalog/privileges.ts',
      'catalog/role-independence.ts',
      'catalog/views/view-query.ts',
    ],
    node: true,
  },
  // What a filter requires decides the SQL, and the rows that it may read.
  compile: {
    values: ['sql', 'plan/walk.ts', 'plan/traits', 'model/types'],
    types: ['plan', 'model', 'schema'],
  },
  'compile/compile-plan.ts': {
    values: ['compile', 'nested-writes/compile', 'sql'],
    types: ['plan', 'model'],
  },
  // The one addition that spans two stages.
  'nested-writes/plan': { values: ['plan', 'budget', 'request/operation.ts'], types: ['model', 'request'] },
  'nested-writes/compile': { values: ['compile', 'sql', 'model/types'], types: ['plan', 'model'] },
  // The standbys of a database: it knows batches and logs, and nothing of requests.
  replicas: { values: ['database', 'budget', 'settings', 'statistics.ts'], packages: ['lru-cache'], node: true },
  engine: {
    values: [
      'replicas',
      'settings',
      'budget',
      'statistics.ts',
      'catalog',
      'model',
      'model/types',
      'schema',
      'introspection',
      'request',
      'plan',
      'plan/plan-operation.ts',
      'sql',
      'compile',
      'compile/compile-plan.ts',
      'extension',
      'freshness',
      'database',
    ],
    packages: ['graphql', 'lru-cache'],
    node: true,
  },
  // Whether something has changed that a live answer depends on. It knows neither requests nor answers.
  'live/changes': { values: ['database', 'sql', 'budget', 'settings', 'extension'], node: true },
  // A sibling of the engine: it loads a catalog and builds its own models, to find out what is missing from them.
  doctor: { values: ['catalog', 'model', 'model/types', 'settings', 'sql', 'budget'], types: ['database'] },
  // A sibling of the doctor: reads what grants and policies decide, for people, and never for a request.
  access: { values: ['catalog/lists.ts', 'budget/turns.ts', 'model/naming/names.ts'], types: ['database', 'catalog', 'model'] },
  // Above the engine: asks PostgreSQL how it would run what the engine compiled, and analyses policies as the doctor does.
  explain: {
    values: ['settings', 'plan/walk.ts', 'plan/traits', 'doctor/policy-calls.ts', 'doctor/search-index.ts', 'model/types'],
    types: ['engine', 'plan', 'model', 'database'],
    packages: ['graphql'],
  },
  // Answers that are computed again when the data changes: above the engine, which computes them.
  live: {
    values: ['budget', 'catalog', 'engine', 'database', 'freshness', 'request/validate/parse-document.ts', 'live/changes'],
    types: ['plan', 'replicas'],
    node: true,
  },
  // Another entry point next to http: for other GraphQL servers.
  executable: { types: ['engine'], packages: ['graphql'] },
  // The composition root, its options, and what it returns.
  'rowgraph-options.ts': {
    values: ['settings', 'budget', 'engine/snapshot/caches.ts', 'model/additions.ts'],
    types: ['database', 'engine', 'request'],
  },
  'rowgraph-interface.ts': { types: ['database', 'engine', 'doctor', 'explain', 'access'], packages: ['graphql'] },
  'rowgraph-service.ts': {
    values: [
      'settings/check-options.ts',
      'budget',
      'database/client-database.ts',
      'engine',
      'executable',
      'access',
      'doctor',
      'explain',
      'live',
      'statistics.ts',
    ],
    types: ['rowgraph-interface.ts', 'database', 'freshness', 'replicas'],
    packages: ['graphql'],
  },
  'rowgraph.ts': {
    values: [
      'rowgraph-options.ts',
      'rowgraph-service.ts',
      'settings',
      'database',
      'extension',
      'freshness',
      'engine',
      'live/changes',
      'replicas',
      'event-details.ts',
    ],
    types: ['rowgraph-interface.ts', 'live'],
  },
  'index.ts': {
    values: ['check-node.ts', 'rowgraph.ts', 'budget', 'database/connection-budget.ts', 'extension/pglite-extension.ts'],
    types: ['rowgraph-options.ts', 'rowgraph-interface.ts', 'settings', 'engine', 'access', 'doctor', 'explain', 'database'],
  },
  auth: {
    values: ['budget/deadline.ts', 'settings', 'files', 'engine/request.ts'],
    types: ['engine'],
    packages: ['jose', 'lru-cache'],
    node: true,
  },
  // Files that the server reads, and reads again when they change.
  files: { node: true },
  telemetry: { values: ['events.ts', 'statistics.ts'], packages: ['graphql', 'pino', 'prom-client'], node: true },
  // What agents see and may do; whoever has their requests makes the sessions, and knows the room by its types.
  mcp: { values: ['settings'], types: ['engine', 'events.ts'], packages: ['graphql', '@modelcontextprotocol/server'], node: true },
  http: {
    values: ['settings', 'budget', 'auth', 'files', 'telemetry', 'event-details.ts', 'events.ts', 'replicas/position.ts'],
    types: ['engine', 'mcp'],
    packages: ['lru-cache', 'ws', '@redis/client'],
    node: true,
  },
  // One server, many projects: which endpoint serves a request, and when each is opened and closed.
  projects: { values: ['settings', 'budget', 'auth', 'files', 'http'], types: ['engine'], node: true },
  cli: {
    // `cost` also counts without a graph; `dev` shows newcomers the comment directives that it finds; `advise` explains many requests.
    values: [
      'index.ts',
      'required-node.ts',
      'settings',
      'budget',
      'engine/request-cost.ts',
      'event-details.ts',
      'events.ts',
      'auth',
      'files',
      'telemetry',
      'http',
      'mcp',
      'projects',
      'database/connection-budget.ts',
      'database/hosts.ts',
      'sql',
      'model/directives.ts',
      'extension',
      'live/changes',
      'database/open-database.ts',
      'explain',
    ],
    types: ['rowgraph-interface.ts'],
    packages: ['commander', 'graphql', 'pg', '@electric-sql/pglite'],
    node: true,
  },
  // The scalars for other tools, without loading rowgraph.
  codegen: { values: ['model/types'] },
  'check-node.ts': { values: ['required-node.ts'] },
  'required-node.ts': {},
  'event-details.ts': {},
  'events.ts': { values: ['event-details.ts'] },
  'statistics.ts': {},
};

/** Files that everything may import: every stage throws errors and reports events, and JSON is parsed in many places. */
const everywhere = { values: ['errors'], types: ['event-details.ts', 'events.ts', 'statistics.ts'] };

interface Import {
  readonly from: string;
  /** A file of `src`, or the name of a package. */
  readonly to: string;
  readonly kind: 'file' | 'package' | 'node';
  readonly typeOnly: boolean;
}

const source = path.join(import.meta.dirname, '../src');
const files = globSync('**/*.ts', { cwd: source }).filter((file) => !file.endsWith('.test.ts'));
const imports = files.flatMap(readImports);

test('each import is one that the layers allow', () => {
  const forbidden = imports
    .filter((edge) => !isAllowed(edge))
    .map(({ from, to, typeOnly }) => `${from} → ${to}${typeOnly ? ' (types)' : ''}`);
  assert.deepEqual(forbidden, []);
});

test('every room has a layer', () => {
  assert.deepEqual(
    [...new Set(files.map(layerOf))].filter((name) => !(name in layers)),
    [],
  );
});

test('no file imports itself by a detour', () => {
  assert.deepEqual(findCycle(imports.filter(({ kind, typeOnly }) => kind === 'file' && !typeOnly)), null);
});

test('no room imports itself by a detour, types included', (context) => {
  const edges = imports.filter(({ kind, from, to }) => kind === 'file' && roomOf(from) !== roomOf(to));
  assert.deepEqual(findCycle(edges.map(({ from, to }) => ({ from: roomOf(from), to: roomOf(to) }))), null);
  for (const line of drawHouse(edges)) context.diagnostic(line);
});

test('only index.ts exports what other files make', () => {
  const barrels = files.filter(
    (file) => file !== 'index.ts' && /^export\s[^;=]*\sfrom\s+'/m.test(readFileSync(path.join(source, file), 'utf8')),
  );
  assert.deepEqual(barrels, []);
});

test('no file is a drawer', () => {
  const drawer = /(^|[-/])(utils?|helpers?|misc|common|shared|lib|tools?|stuff)([-/.]|$)/;
  assert.deepEqual(
    // A tool is what the Model Context Protocol calls one.
    files.filter((file) => drawer.test(file.replace(/^mcp\/.*\btools?\.ts$/, 'mcp'))),
    [],
  );
});

test('the text of a file is read for its imports as it should be', () => {
  const text = [
    "import type { A } from './a.ts';",
    "import { type B, type C } from '../model/b.ts';",
    "import fastify, {\n  type D,\n} from 'fastify';",
    "const e = await import('node:fs');",
    "export { f } from './f.ts';",
  ].join('\n');
  assert.deepEqual(parseImports('plan/x.ts', text), [
    { from: 'plan/x.ts', to: 'plan/a.ts', kind: 'file', typeOnly: true },
    { from: 'plan/x.ts', to: 'model/b.ts', kind: 'file', typeOnly: true },
    { from: 'plan/x.ts', to: 'fastify', kind: 'package', typeOnly: false },
    { from: 'plan/x.ts', to: 'plan/f.ts', kind: 'file', typeOnly: false },
    { from: 'plan/x.ts', to: 'node:fs', kind: 'node', typeOnly: false },
  ]);
});

function readImports(file: string): Import[] {
  return parseImports(file, readFileSync(path.join(source, file), 'utf8'));
}

function parseImports(file: string, text: string): Import[] {
  const statements = [...text.matchAll(/^(?:import|export)\s+(?<names>(?:(?!;)[\s\S])*?\sfrom\s+)?'(?<target>[^']+)';/gm)];
  const calls = [...text.matchAll(/\bimport\((?<target>['`][^'`]+)['`]/g)].map(({ groups }) => ({ target: groups?.target?.slice(1) }));
  return [...statements.map(({ groups }) => groups ?? {}), ...calls].map((match) => {
    const { names = '', target = '' } = match as { names?: string; target?: string };
    const braces = /^\{(?<inner>[\s\S]*)\}\s+from\s+$/
      .exec(names)
      ?.groups?.inner?.split(',')
      .filter((name) => name.trim() !== '');
    const typeOnly = /^type\s/.test(names) || (braces?.every((name) => /^\s*type\s/.test(name)) ?? false);
    if (target.startsWith('.')) return { from: file, to: path.join(path.dirname(file), target), kind: 'file', typeOnly };
    if (target.startsWith('node:')) return { from: file, to: target, kind: 'node', typeOnly };
    const name = target.split('/').slice(0, target.startsWith('@') ? 2 : 1);
    return { from: file, to: name.join('/'), kind: 'package', typeOnly };
  });
}

/** Files that are rooms of their own, above all others that they use: they hand nested writes to the room that plans and compiles them. */
const entrances: readonly string[] = ['plan/plan-operation.ts', 'compile/compile-plan.ts'];

/** A room: the folder of a file, or the file itself if it is in the root or an entrance. */
function roomOf(file: string): string {
  return entrances.includes(file) ? file : (file.split('/')[0] ?? file);
}

/** The most specific entry of the table for a file. */
function layerOf(file: string): string {
  const parts = file.split('/');
  const prefixes = parts.map((_, index) => parts.slice(0, parts.length - index).join('/'));
  return prefixes.find((prefix) => prefix in layers) ?? roomOf(file);
}

function isAllowed({ from, to, kind, typeOnly }: Import): boolean {
  const layer = layers[layerOf(from)] ?? {};
  if (kind === 'node') return typeOnly || layer.node === true;
  if (kind === 'package') return layer.packages?.includes(to) ?? false;
  const values = [...(layer.values ?? []), ...everywhere.values];
  const allowed = typeOnly ? [...values, ...(layer.types ?? []), ...everywhere.types] : values;
  return layerOf(from) === layerOf(to) || allowed.includes(layerOf(to)) || allowed.includes(to);
}

/** The rooms from top to bottom, each above everything that it imports; those of which it imports only types are in brackets. */
function drawHouse(edges: readonly Import[]): string[] {
  const rooms = [...new Set(files.map(roomOf))];
  const below = new Map(
    rooms.map((room) => [room, new Set(edges.filter(({ from }) => roomOf(from) === room).map(({ to }) => roomOf(to)))]),
  );
  const heights = new Map<string, number>();
  const heightOf = (room: string): number => {
    const height = heights.get(room) ?? 1 + Math.max(0, ...[...below.get(room)!].map(heightOf));
    heights.set(room, height);
    return height;
  };
  const shown = (room: string, to: string): string => {
    const isTypes = edges.every((edge) => roomOf(edge.from) !== room || roomOf(edge.to) !== to || edge.typeOnly);
    return isTypes ? `(${to})` : to;
  };
  return rooms
    .sort((one, other) => heightOf(other) - heightOf(one) || (one < other ? -1 : 1))
    .map(
      (room) =>
        `${String(heightOf(room)).padStart(2)}  ${room.padEnd(13)} → ${[...below.get(room)!]
          .sort()
          .map((to) => shown(room, to))
          .join(' ')}`,
    );
}

/** The names along a cycle, or null. */
function findCycle(edges: readonly { from: string; to: string }[]): string[] | null {
  const targets = Map.groupBy(edges, ({ from }) => from);
  const done = new Set<string>();
  function visit(node: string, trail: readonly string[]): string[] | null {
    if (trail.includes(node)) return [...trail.slice(trail.indexOf(node)), node];
    if (done.has(node)) return null;
    for (const { to } of targets.get(node) ?? []) {
      const cycle = visit(to, [...trail, node]);
      if (cycle !== null) return cycle;
    }
    done.add(node);
    return null;
  }
  for (const node of targets.keys()) {
    const cycle = visit(node, []);
    if (cycle !== null) return cycle;
  }
  return null;
}
