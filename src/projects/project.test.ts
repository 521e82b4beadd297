import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Exchange } from '../http/endpoint/exchange.ts';
import { LazyGraph, Project } from './project.ts';

test('a request that fails is no longer counted', async () => {
  const graph = new LazyGraph(
    () => Promise.reject(new Error('not asked for')),
    () => {},
  );
  const endpointFor = () => ({ handle: () => Promise.reject(new Error('a defect')), endConnections: () => {} });
  const project = new Project('aaaaaaaaaaaaaaaaaaaa', null, graph, endpointFor, () => {});
  const handling = project.handle({} as Exchange);
  assert.equal(graph.isResting, false);
  await assert.rejects(handling, /a defect/);
  assert.equal(graph.isResting, true);
});
