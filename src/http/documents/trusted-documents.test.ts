import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readTrustedDocuments } from './trusted-documents.ts';

test('a plain object contains texts, or texts with a Cache-Control', () => {
  const documents = readTrustedDocuments({
    one: '{ a }',
    other: { document: '{ b }', cacheControl: 'public, max-age=60' },
    third: { document: '{ c }' },
  });
  assert.deepEqual(
    ['one', 'other', 'third', 'none'].map((id) => documents.get(id)),
    [
      { text: '{ a }', cacheControl: null },
      { text: '{ b }', cacheControl: 'public, max-age=60' },
      { text: '{ c }', cacheControl: null },
      undefined,
    ],
  );
  assert.throws(() => readTrustedDocuments({ one: { document: '{ a }', cacheControl: 'for ever' } }), {
    message: /^The cacheControl of the document "one" must be directives/,
  });
});

test('anything else is refused, and not taken for an empty collection', () => {
  for (const documents of [
    new Map([['one', '{ a }']]),
    ['{ a }'],
    { get: () => undefined },
    { one: 5 },
    { one: null },
    { one: {} },
    { one: ['{ a }'] },
  ])
    assert.throws(() => readTrustedDocuments(documents as never), TypeError);
  for (const entry of [
    { document: '{ a }', cachecontrol: 'no-store' },
    { document: '{ a }', cacheControl: 5 },
  ])
    assert.throws(() => readTrustedDocuments({ one: entry } as never), { name: 'TypeError', message: /document "one"/ });
});
