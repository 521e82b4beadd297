/** The explorer, without a browser. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type GraphQLInputType,
  GraphQLInt,
  type GraphQLObjectType,
  GraphQLString,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  print,
} from 'graphql';
import { addField, findField, findValue, removeField, setValue } from '../../graphiql/page/edit-operation.ts';
import { writeField } from '../../graphiql/page/first-choice.ts';
import { listExplorerLines, listReachable } from '../../graphiql/page/list-explorer-lines.ts';
import { moveInTree } from '../../graphiql/page/move-in-tree.ts';
import { isEmptyOperation, type OperationsText, readOperations, writeOperation } from '../../graphiql/page/operations-text.ts';
import { describeValue, readValue } from '../../graphiql/page/read-value.ts';
import { emptyOf, isValid, schema } from './api-of-notes.ts';

const operationOf = (text: string): OperationDefinitionNode => (readOperations(text) as OperationsText).operations[0]!;
const fieldNamed = (type: string, name: string) => (schema.getType(type) as GraphQLObjectType).getFields()[name]!;

test('the explorer adds a field with what makes it valid, and takes it out with what it leaves empty', () => {
  const before = operationOf('query Q { authorCollection { edges { node { name } } } }');
  const added = addField(before, ['noteCollection'], writeField(fieldNamed('Query', 'noteCollection')));
  assert.equal(
    print(added).replaceAll(/\s+/g, ' '),
    'query Q { authorCollection { edges { node { name } } } noteCollection { edges { node { body } } } }',
  );
  const withNode = addField(before, ['node'], writeField(fieldNamed('Query', 'node')));
  assert.match(print(withNode), /node\(nodeId: ""\) \{\s+body\s+\}/);
  for (const operation of [added, withNode]) isValid(print(operation));
  const deep = addField(before, ['noteCollection', 'edges', 'node', 'id'], writeField(fieldNamed('Note', 'id')));
  assert.match(print(deep), /noteCollection \{\s+edges \{\s+node \{\s+id\s/);
  const without = removeField(removeField(deep, ['noteCollection', 'edges', 'node', 'id']), ['authorCollection']);
  assert.equal(print(without).replaceAll(/\s+/g, ' '), 'query Q { __typename }');
});

test('the explorer sets arguments, and takes them out with the objects that they leave empty', () => {
  const path = ['noteCollection'];
  const text = (value: string) => ({ kind: Kind.STRING, value }) as const;
  let operation = operationOf('{ noteCollection(orderBy: [{id: AscNullsFirst}]) { edges { node { id } } } }');
  operation = setValue(operation, path, ['filter', 'body', 'ilike'], text('%a%'));
  operation = setValue(operation, path, ['orderBy', 'id'], { kind: Kind.ENUM, value: 'DescNullsLast' });
  assert.match(print(operation), /\(\s+orderBy: \[\{ id: DescNullsLast \}\]\s+filter: \{ body: \{ ilike: "%a%" \} \}\s+\)/);
  isValid(print(operation));
  const found = findField(operation, path)!;
  assert.deepEqual([findValue(found, ['orderBy', 'id'])?.kind, findValue(found, ['filter', 'id'])], [Kind.ENUM, null]);
  assert.match(
    print(setValue(operation, path, ['filter', 'body', 'ilike'], null)),
    /noteCollection\(orderBy: \[\{ ?id: DescNullsLast ?\}\]\) \{/,
  );
});

test('values are read as people type them', () => {
  const read = (typed: string, type: GraphQLInputType) => {
    const value = readValue(typed, type);
    return value && print(value);
  };
  assert.deepEqual(
    ['3', '"3"', '$n', '', 'x y'].map((typed) => read(typed, GraphQLInt)),
    ['3', null, '$n', null, null],
  );
  assert.deepEqual(
    ['a"b', '3', '$n', '["a", "b"]', '$ 5'].map((typed) => read(typed, GraphQLString)),
    ['"a\\"b"', '"3"', '$n', '["a", "b"]', '"$ 5"'],
  );
  assert.equal(describeValue({ kind: Kind.STRING, value: 'a"b' }), 'a"b');
});

test('the text around an operation stays as it is', () => {
  const text = '# first\nquery A { a }\n\n# second\nquery B { b }\n';
  const read = readOperations(text) as OperationsText;
  const changed = writeOperation(text, read, read.operations[0]!, operationOf('query A { x }'));
  assert.equal(changed, '# first\nquery A {\n  x\n}\n\n# second\nquery B { b }\n');
  const begun = writeOperation('# only this\n', readOperations('# only this\n') as OperationsText, null, operationOf('{ x }'));
  assert.equal(begun, '# only this\n{\n  x\n}\n');
  assert.match((readOperations('{ a ') as { error: string }).error, /Syntax Error/);
});

test('the explorer lists what is open: arguments, then fields, each with its place', () => {
  const operation = operationOf('{ noteCollection(first: 1) { pageInfo { endCursor } } }');
  const opened = new Map([['noteCollection/edges', true]]);
  const lines = listExplorerLines(schema, { operation, opened, found: null });
  assert.deepEqual(
    lines.map(({ id, level, place, count, isChecked, isOpen }) => [id, level, `${place}/${count}`, isChecked, isOpen]).slice(0, 8),
    [
      ['node', 1, '1/3', false, false],
      ['authorCollection', 1, '2/3', false, false],
      ['noteCollection', 1, '3/3', true, true],
      ['noteCollection(first', 2, '1/6', true, null],
      ['noteCollection(after', 2, '2/6', false, null],
      ['noteCollection(filter', 2, '3/6', false, false],
      ['noteCollection(orderBy', 2, '4/6', false, false],
      ['noteCollection/edges', 2, '5/6', false, true],
    ],
  );
});

test('the explorer finds fields at any depth, by the shortest way, and shows only the way to them', () => {
  const operation = emptyOf('{ __typename }');
  const reachable = listReachable(schema, OperationTypeNode.QUERY);
  const pathsOf = (wanted: string): string[] => reachable.filter(({ name }) => name.includes(wanted)).map(({ path }) => path.join('/'));
  // By the collection, although `node` is as near: it needs an argument.
  assert.deepEqual(pathsOf('body'), ['noteCollection/edges/node/body']);
  assert.deepEqual(pathsOf('label'), ['noteCollection/edges/node/label']);
  const paths = new Set(reachable.map(({ path }) => path.join('/')));
  assert.equal(paths.size, reachable.length, 'none twice, although tables refer to each other');
  const found = reachable.filter(({ name }) => name === 'name').map(({ path }) => path);
  const shown = (opened: ReadonlyMap<string, boolean>) =>
    listExplorerLines(schema, { operation, opened, found }).map(({ id, level, isOpen }) => [id, level, isOpen]);
  assert.deepEqual(shown(new Map()), [
    ['authorCollection', 1, true],
    ['authorCollection/edges', 2, true],
    ['authorCollection/edges/node', 3, true],
    ['authorCollection/edges/node/name', 4, null],
  ]);
  const opened = shown(new Map([['authorCollection/edges/node', true]])).map(([id]) => id);
  assert.ok(opened.includes('authorCollection/edges/node/noteCollection'), 'what the user opens shows all that it has');
  assert.deepEqual(shown(new Map([['authorCollection', false]])), [['authorCollection', 1, false]]);
  assert.deepEqual(listExplorerLines(schema, { operation, opened: new Map(), found: [] }), []);
});

test('an operation whose last field goes leaves nothing behind', () => {
  const text = '# Mine.\nquery A { a }\n\nmutation B { b }\n';
  const read = readOperations(text) as OperationsText;
  assert.equal(writeOperation(text, read, read.operations[1]!, null), '# Mine.\nquery A { a }\n');
  assert.equal(writeOperation(text, read, read.operations[0]!, null), '# Mine.\n\nmutation B { b }\n');
  const one = readOperations('{ a }') as OperationsText;
  assert.equal(writeOperation('{ a }', one, one.operations[0]!, null), '');
  assert.deepEqual(['{ __typename }', '{ a }', '{ x: __typename }', '{ __typename a }'].map(emptyOf).map(isEmptyOperation), [
    true,
    false,
    false,
    false,
  ]);
});

test('keys move in the tree', () => {
  const lines = [
    { name: 'a', level: 1, isOpen: true },
    { name: 'b', level: 2, isOpen: null },
    { name: 'ab', level: 1, isOpen: false },
  ];
  const press = (place: number, key: string, ctrlKey = false) => moveInTree(lines, place, { key, ctrlKey, metaKey: false, altKey: false });
  const go = (place: number) => ({ kind: 'go', place });
  assert.deepEqual([press(0, 'ArrowDown'), press(2, 'ArrowDown'), press(0, 'ArrowUp')], [go(1), go(2), go(0)]);
  assert.deepEqual([press(0, 'ArrowRight'), press(2, 'ArrowRight'), press(1, 'ArrowRight')], [go(1), { kind: 'open', isOpen: true }, null]);
  assert.deepEqual([press(1, 'ArrowLeft'), press(0, 'ArrowLeft')], [go(0), { kind: 'open', isOpen: false }]);
  assert.deepEqual([press(0, 'End'), press(2, 'Home'), press(0, 'a'), press(2, 'A'), press(0, 'z')], [go(2), go(0), go(2), go(0), null]);
  assert.deepEqual(
    [press(0, ' '), press(0, 'Enter'), press(0, 'Tab'), press(0, 'a', true)],
    [{ kind: 'check' }, { kind: 'check' }, null, null],
  );
});
