import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRowgraph, type ExecutionResult, type Rowgraph } from '../../src/index.ts';
import { startSilentProxy } from '../support/silent-proxy.ts';
import { ask } from '../support/standby.ts';
import { until } from '../support/until.ts';
import { readItem, startCluster, urlOf, writeItem } from './cluster.ts';

const sql = `
  create sequence visit;
  create function next_visit() returns int language sql volatile as 'select nextval(''visit'')::int';
  create function count_items() returns int language sql stable as 'select count(*)::int from item';
  create function sly() returns int language plpgsql stable as 'begin return nextval(''visit''); end';
  create function here() returns boolean language sql stable as 'select pg_is_in_recovery()';
  create unlogged table draft (id int primary key);
  create role careful nologin; alter role careful set default_transaction_isolation = 'repeatable read';
  grant careful to authenticator; grant usage on schema public to careful; grant select on item to careful;`;

function run(graph: Rowgraph, query: string, role = 'service_role', position?: unknown): Promise<ExecutionResult> {
  return graph.execute({ query, extensions: position === undefined ? null : { position } }, { role, claims: { sub: query } });
}

/** What happened on the replica during some work. */
async function during(graph: Rowgraph, work: () => Promise<unknown>): Promise<{ answered: number; behind: number; failed: number }> {
  const [before] = graph.readStatistics().replicas!;
  await work();
  const [now] = graph.readStatistics().replicas!;
  return { answered: now!.answered - before!.answered, behind: now!.behind - before!.behind, failed: now!.failed - before!.failed };
}

test('what only reads runs on the replica, everything else on the primary', async () => {
  const cluster = await startCluster(['0ms'], sql);
  try {
    const { graph } = await cluster.open();
    const answer = async (query: string): Promise<unknown> => {
      const { data, errors } = await run(graph, query);
      assert.equal(errors, undefined, query);
      return data;
    };
    const places = async (query: string) => during(graph, () => answer(query));
    assert.deepEqual(await places('{ count_items }'), { answered: 1, behind: 0, failed: 0 });
    assert.deepEqual(await answer('{ here }'), { here: true });
    assert.deepEqual(await places('mutation { next_visit }'), { answered: 0, behind: 0, failed: 0 });
    assert.deepEqual(await places('{ __typename }'), { answered: 0, behind: 0, failed: 0 });
    // What the replica cannot run costs one attempt.
    for (const query of ['{ sly }', '{ draftCollection { edges { node { id } } } }']) {
      assert.deepEqual(await places(query), { answered: 0, behind: 0, failed: 1 }, query);
      assert.deepEqual(await places(query), { answered: 0, behind: 0, failed: 0 }, query);
    }
    // An error is the primary's.
    const { errors } = await run(graph, '{ itemCollection(filter: { n: { gt: 99999999999 } }) { edges { node { n } } } }');
    assert.equal(errors?.length, 1);
    // No statement of such a transaction sees more than the first one.
    const position = await writeItem(graph, 'somebody', 1, 5);
    const read = '{ itemCollection(filter: { id: { eq: 1 } }) { edges { node { n } } } }';
    const careful = await run(graph, read, 'careful', position);
    assert.deepEqual(careful, { data: { itemCollection: { edges: [{ node: { n: 5 } }] } } });
  } finally {
    await cluster.stop();
  }
});

test('a position that nobody can have is ignored, and one of another cluster', async () => {
  const cluster = await startCluster(['0ms']);
  try {
    const { graph } = await cluster.open();
    const position = String(await writeItem(graph, 'writer', 1, 5));
    const invented = [position.replace(/[^.]+$/, 'FFFFFFFF/0'), position.replace('.1.', '.7.'), position.replace(/^\d+/, '1')];
    for (const each of invented)
      assert.deepEqual(await during(graph, () => readItem(graph, 'reader', 1, each)), { answered: 1, behind: 0, failed: 0 }, each);
    for (const wrong of ['', 'abc', 5, {}, position.slice(1, 5)]) {
      const { errors } = await run(graph, '{ itemCollection { edges { node { n } } } }', 'service_role', wrong);
      assert.equal(errors?.[0]?.extensions.code, 'BAD_REQUEST');
    }
    // Many at a time ask the primary a few times, and wait for nothing else.
    await Promise.all(Array.from({ length: 500 }, (_, index) => readItem(graph, `reader ${index}`, 1, invented[0])));
  } finally {
    await cluster.stop();
  }
});

for (const triggers of [true, false]) {
  test(`a replica that replays late is not asked with newer SQL, ${triggers ? 'with' : 'without'} the schema triggers`, async () => {
    const cluster = await startCluster(['500ms']);
    try {
      const database = urlOf(cluster.primary).replace('authenticator', 'postgres');
      const { graph } = await cluster.open({ database, schemaTriggers: triggers });
      for (let round = 1; round <= 3; round += 1) {
        await ask(cluster.primary.url, `alter table item add column c${round} int not null default ${round}`);
        const read = `{ itemCollection(first: 1) { edges { node { c${round} } } } }`;
        const { data, errors } = await run(graph, read);
        assert.deepEqual([data, errors], [{ itemCollection: { edges: [{ node: { [`c${round}`]: round } }] } }, undefined]);
        // The same name with another meaning: the old column must not show.
        await ask(cluster.primary.url, `alter table item drop column c${round}; alter table item add column c${round} text default 'new'`);
        await graph.reload();
        const again = await run(graph, read);
        assert.deepEqual(again.data, { itemCollection: { edges: [{ node: { [`c${round}`]: 'new' } }] } });
      }
    } finally {
      await cluster.stop();
    }
  });
}

test('a replica that falls silent costs no query', async () => {
  const cluster = await startCluster(['0ms']);
  const proxy = await startSilentProxy(cluster.standbys[0]!.port);
  try {
    const replicaUrl = `postgres://authenticator@127.0.0.1:${proxy.port}/postgres`;
    const { graph } = await cluster.open({ replicaUrl });
    assert.equal(await readItem(graph, 'reader', 1), 0);
    proxy.fallSilent();
    assert.deepEqual(await Promise.all(['a', 'b', 'c'].map((name) => readItem(graph, name, 1))), [0, 0, 0]);
    assert.equal(graph.readStatistics().replicas?.[0]?.isUsable, false);
    proxy.speak();
    await until(() => graph.readStatistics().replicas?.[0]?.isUsable);
  } finally {
    await cluster.stop();
    await proxy.stop();
  }
});

test('the doctor says why a server gets no queries, and what slows a failover down', async () => {
  const cluster = await startCluster(['0ms']);
  const [standby] = cluster.standbys;
  const gone = 'postgres://authenticator@127.0.0.1:1/postgres';
  try {
    const graph = await createRowgraph({ database: urlOf(cluster.primary), replicaUrl: [urlOf(cluster.primary, standby!), gone] });
    const { findings } = await graph.doctor({ role: 'service_role' });
    await graph.close();
    assert.deepEqual(
      findings.filter(({ object }) => object === 'replica').map(({ code, name, message }) => [code, name, message.split(/[:,]/)[0]]),
      [
        ['replica-unused', '127.0.0.1:1', 'it gets no queries'],
        ['replica-unused', `127.0.0.1:${cluster.primary.port}`, 'it gets no queries'],
        ['replica-timeline', `127.0.0.1:${standby!.port}`, 'after a promotion'],
      ],
    );
    const privileged = urlOf(cluster.primary, standby!).replace('authenticator', 'postgres');
    const seeing = await createRowgraph({ database: privileged, replicaUrl: privileged, trustedRoles: ['postgres'] });
    const codes = (await seeing.doctor({ role: 'service_role' })).findings.map(({ code }) => code);
    await seeing.close();
    assert.ok(!codes.includes('replica-timeline'));
  } finally {
    await cluster.stop();
  }
});

test('a graph opens while its replicas are away', async () => {
  const cluster = await startCluster([]);
  try {
    const graph = await createRowgraph({ database: urlOf(cluster.primary), replicaUrl: 'postgres://authenticator@127.0.0.1:1/postgres' });
    await writeItem(graph, 'somebody', 1, 5);
    assert.equal(await readItem(graph, 'somebody', 1), 5);
    await graph.close();
  } finally {
    await cluster.stop();
  }
});
