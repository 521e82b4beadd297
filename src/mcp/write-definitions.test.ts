import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildSchema, type IntrospectionType, introspectionFromSchema } from 'graphql';
import type { DescribedType } from './introspect.ts';
import { takeFitting, writeDefinition } from './write-definitions.ts';

const sdl = `
"""A bird"""
type Bird implements Node {
  "Its \\"name\\""
  name(short: Boolean! = true, tags: [Tag!]): String!
  old: [Int!]! @deprecated(reason: "gone")
  id: ID!
}
interface Node { id: ID! }
union Found = Bird
enum Tag { a "the second" b }
input BirdInput { name: String! = "x", inner: [BirdInput] }
"""
Several
lines
"""
scalar UUID
type Query { found: Found }`;

const types = new Map<string, DescribedType>(
  (introspectionFromSchema(buildSchema(sdl)).__schema.types as readonly IntrospectionType[]).map((type) => [
    type.name,
    type as unknown as DescribedType,
  ]),
);
const write = (name: string, word = ''): string => writeDefinition(types.get(name)!, word);

test('definitions read as the schema was written', () => {
  assert.equal(
    write('Bird'),
    `"A bird"
type Bird implements Node {
  """
  Its "name"
  """
  name(short: Boolean! = true, tags: [Tag!]): String!
  old: [Int!]! @deprecated(reason: "gone")
  id: ID!
}`,
  );
  assert.equal(write('Node'), 'interface Node {\n  id: ID!\n}\n# implemented by Bird');
  assert.equal(write('Found'), 'union Found = Bird');
  assert.equal(write('Tag'), 'enum Tag {\n  a\n  "the second"\n  b\n}');
  assert.equal(write('BirdInput'), 'input BirdInput {\n  name: String! = "x"\n  inner: [BirdInput]\n}');
  assert.equal(write('UUID'), '"""\nSeveral\nlines\n"""\nscalar UUID');
});

test('a word chooses members, by their names or descriptions', () => {
  assert.equal(write('Tag', 'SECOND'), 'enum Tag {\n  "the second"\n  b\n}');
  assert.equal(write('Tag', 'nothing'), 'enum Tag {}');
});

test('as many texts are taken as fit, and a first one that is too long is cut', () => {
  assert.deepEqual(takeFitting(['aa', 'bb', 'cc'], 6, '\n'), { text: 'aa\nbb', shown: 2, total: 3 });
  assert.deepEqual(takeFitting(['aaaa'], 2, '\n'), { text: 'aa\n…', shown: 0, total: 1 });
  assert.deepEqual(takeFitting([], 2, '\n'), { text: '', shown: 0, total: 0 });
});
