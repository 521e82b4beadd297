/** The parts of the page's live queries that need no browser. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSubscription } from '../../graphiql/page/choose-operation-name.ts';
import { diffAnswers } from '../../graphiql/page/live/diff-answers.ts';
import { followAnswers } from '../../graphiql/page/live/follow-answers.ts';
import { LiveAnswers } from '../../graphiql/page/live/live-answers.ts';
import { streamKeyOf } from '../../graphiql/page/live/stream-answers.ts';

test('differences are told by row', () => {
  const answer = (rows: object[]) => ({ data: { birdCollection: { totalCount: rows.length, edges: rows.map((node) => ({ node })) } } });
  const wren = { nodeId: 'a', id: 1, name: 'Wren', seen: 1 };
  const owl = { nodeId: 'b', id: 2, name: 'Owl', seen: 5 };
  const rook = { nodeId: 'c', id: 3, name: 'Rook', seen: 0 };
  assert.deepEqual(diffAnswers(answer([wren, owl]), answer([rook, { ...wren, seen: 2 }])), [
    { path: 'birdCollection › Wren (1) › seen', kind: 'changed', before: '1', after: '2' },
    { path: 'birdCollection › Owl (2)', kind: 'removed', before: JSON.stringify({ node: owl }) },
    { path: 'birdCollection › Rook (3)', kind: 'added', after: JSON.stringify({ node: rook }) },
  ]);
  assert.deepEqual(diffAnswers({ data: { a: [1, 2] } }, { data: { a: [1, 3, 4] } }), [
    { path: 'a › #2', kind: 'changed', before: '2', after: '3' },
    { path: 'a › #3', kind: 'added', after: '4' },
  ]);
  assert.deepEqual(diffAnswers(answer([wren]), answer([wren])), []);
});

test('answers are read as they come, and stop when somebody stops', async () => {
  const texts = ['retry: 1000\n\nevent: next\nda', 'ta: {"data":1}\n\n:\n\nevent: next\ndata: {"data":2}\n\n'];
  const body = new ReadableStream({
    pull(controller) {
      const text = texts.shift();
      if (text !== undefined) controller.enqueue(new TextEncoder().encode(text));
    },
  });
  const live = new LiveAnswers();
  let stops = 0;
  const answers = followAnswers(new Response(body), () => (stops += 1), live);
  assert.deepEqual([(await answers.next()).value, (await answers.next()).value], [{ data: 1 }, { data: 2 }]);
  const { isRunning, count, previous, current } = live.get() ?? {};
  assert.deepEqual([isRunning, count, previous, current], [true, 2, { data: 1 }, { data: 2 }]);
  await answers.return?.();
  assert.deepEqual([stops, live.get()?.isRunning], [1, false]);
  live.clear();
  assert.equal(live.get(), null);
});

test('a stream that says it is complete is', async () => {
  const live = new LiveAnswers();
  const response = new Response('event: next\ndata: {"data":1}\n\nevent: complete\ndata: \n\n');
  const seen: object[] = [];
  for await (const answer of followAnswers(response, () => {}, live)) seen.push(answer);
  assert.deepEqual(seen, [{ data: 1 }]);
});

test('a subscription is recognized by the operation that runs', () => {
  const query = 'query A { a } subscription B { b }';
  assert.deepEqual(
    [isSubscription(query, 'A'), isSubscription(query, 'B'), isSubscription('subscription { a }', undefined)],
    [false, true, true],
  );
  assert.equal(isSubscription('subscription {', undefined), false);
});

test('the rows of a stream are shown together', async () => {
  const query = 'subscription { a: birdStream(first: 2) { cursor node { id } } }';
  assert.equal(streamKeyOf(query, undefined), 'a');
  for (const other of [
    'subscription { birdCollection { edges { cursor } } }',
    'subscription { upStream }',
    'subscription { a: xStream { id } }',
    '{',
  ])
    assert.equal(streamKeyOf(other, undefined), null, other);
  const pages = [{ data: { a: [1, 2] } }, { errors: [] }, { data: { a: [3] } }];
  const body = new Response(pages.map((page) => `event: next\ndata: ${JSON.stringify(page)}\n\n`).join(''));
  const answers = followAnswers(body, () => {}, new LiveAnswers(), 'a');
  const shown = [];
  for await (const answer of answers) shown.push(answer);
  assert.deepEqual(shown, [pages[0], pages[1], { data: { a: [1, 2, 3] } }]);
});
