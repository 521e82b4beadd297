import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listOperations } from './document-tools.ts';

const settings = { allowsWrites: false, allowsExplain: false, resultSize: 1024 };
const taken = new Set(['run_query']);

function namesOf(texts: Readonly<Record<string, string>>, more = settings): readonly string[] {
  const documents = new Map(Object.entries(texts).map(([id, text]) => [id, { text }]));
  return listOperations(documents, more, taken).map(({ toolName }) => toolName);
}

test('a tool has the name of its operation, or of its document', () => {
  assert.deepEqual(namesOf({ b: 'query Named { a }', a: '{ a }' }), ['a', 'Named']);
  assert.deepEqual(namesOf({ x: 'query One { a } query Two { a } mutation Three { b }' }), ['One', 'Two']);
  assert.deepEqual(namesOf({ x: 'mutation Three { b } subscription Four { c }' }, { ...settings, allowsWrites: true }), ['Three']);
  assert.deepEqual(namesOf({ x: 'fragment F on A { b }', y: 'not GraphQL' }), []);
});

test('names are what all models accept, and each is there once', () => {
  const names = namesOf({
    'docs/birds of prey.graphql': '{ a }',
    '…': '{ a }',
    [`sha256:${'ab'.repeat(32)}`]: '{ a }',
    run_query: '{ a }',
    one: 'query Same { a }',
    two: 'query Same { b }',
    long: `query ${'A'.repeat(100)} { a }`,
  });
  assert.equal(new Set(names).size, names.length);
  for (const name of names) assert.match(name, /^[A-Za-z0-9_-]{1,48}$/);
  assert.ok(names.includes('docs_birds_of_prey_graphql'));
  assert.ok(names.includes('document'));
  assert.ok(names.includes('Same'));
  assert.ok(!names.includes('run_query'));
});

test('a name does not depend on the documents beside it, unless they have the same', () => {
  const [alone] = namesOf({ run_query: '{ a }' });
  assert.ok(namesOf({ run_query: '{ a }', another: '{ a }' }).includes(alone ?? ''));
});

test('the description is that of the operation, or the comment right above it', () => {
  const describe = (text: string): string | undefined => listOperations(new Map([['x', { text }]]), settings, taken)[0]?.description;
  assert.equal(describe('"""\nFinds birds.\n"""\nquery Birds { a }'), 'Finds birds.');
  assert.equal(describe('# Finds birds\n# by name\nquery Birds { a }'), 'Finds birds\nby name');
  assert.equal(describe('query Birds { a }'), 'Runs the query Birds');
});
