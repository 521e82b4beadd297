/** Live queries on PGlite, whose only session requests, evaluations and the feed share. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDatabase } from '../../src/database/open-database.ts';
import { applyExtension } from '../../src/extension/install-extension.ts';
import { installLiveAtOnce } from '../../src/extension/install-live.ts';
import { startPgliteGraph } from '../support/pglite-graph.ts';
import { nextData, untilAnswer } from './answers.ts';

const schemaSql = `create extension vector; create table sound (id int primary key, name text, place vector(2));
  insert into sound values (1, 'wind', '[1,1]'), (2, 'rain', '[9,9]');`;
const caller = { role: 'service_role' };
const nearest =
  'subscription { soundCollection(nearest: {place: {to: [8, 8], metric: L2}}, first: 1) { edges { distance node { name } } } }';

for (const isAnnounced of [false, true])
  test(`subscriptions and streams follow writes, ${isAnnounced ? 'which are announced' : 'polled'}`, async () => {
    const { pglite, graph, stop } = await startPgliteGraph(schemaSql, { liveInterval: 5 });
    if (isAnnounced) {
      const database = openDatabase(pglite, { observe: () => undefined });
      await applyExtension(database);
      await installLiveAtOnce(database, 'notify');
      await graph.reload();
    }
    const closest = graph.subscribe({ query: nearest }, caller);
    const stream = graph.subscribe({ query: 'subscription { soundStream { node { id } } }' }, caller);
    assert.deepEqual((await nextData(closest)).soundCollection, { edges: [{ distance: Math.SQRT2, node: { name: 'rain' } }] });
    assert.deepEqual(await nextData(stream), { soundStream: [{ node: { id: 1 } }, { node: { id: 2 } }] });
    await pglite.exec("insert into sound values (3, 'hail', '[8,8]')");
    await untilAnswer(closest, { soundCollection: { edges: [{ distance: 0, node: { name: 'hail' } }] } });
    assert.deepEqual(await nextData(stream), { soundStream: [{ node: { id: 3 } }] });
    const { errors } = await graph.execute(
      { query: 'mutation { deleteFromsoundCollection(filter: {id: {eq: 3}}) { affectedCount } }' },
      caller,
    );
    assert.equal(errors, undefined);
    await untilAnswer(closest, { soundCollection: { edges: [{ distance: Math.SQRT2, node: { name: 'rain' } }] } });
    await stop();
  });
