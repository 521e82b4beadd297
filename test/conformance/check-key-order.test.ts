import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findKeyDisorder } from './check-key-order.ts';

test('keys follow the request', () => {
  assert.equal(findKeyDisorder({ query: '{ a { x y } b }' }, { a: [{ x: 1, y: 2 }, null], b: 3 }), null);
  assert.equal(findKeyDisorder({ query: '{ a { x y } b }' }, { b: 3, a: null }), 'data {b,a}');
  assert.equal(findKeyDisorder({ query: '{ a { x y } b }' }, { a: [{ y: 1, x: 2 }], b: 3 }), 'data.a[0] {y,x}');
  assert.equal(findKeyDisorder({ query: '{ z: a b }' }, { z: 1, b: 2 }), null);
});

test('a field that occurs again keeps its first place, and its selections are merged', () => {
  const query = '{ a { x } b ...F } fragment F on Query { c a { w x } }';
  assert.equal(findKeyDisorder({ query }, { a: { x: 1, w: 2 }, b: 3, c: 4 }), null);
  assert.equal(findKeyDisorder({ query }, { a: { w: 2, x: 1 }, b: 3, c: 4 }), 'data.a {w,x}');
});

test('fragments apply by type, which the keys have to agree with', () => {
  const query = '{ node { id ... on A { x y } ... on B { y x } } }';
  assert.equal(findKeyDisorder({ query }, { node: { id: 1, x: 2, y: 3 } }), null);
  assert.equal(findKeyDisorder({ query }, { node: { id: 1, y: 2, x: 3 } }), null);
  assert.equal(findKeyDisorder({ query }, { node: { x: 2, id: 1, y: 3 } }), 'data.node {x,id,y}');
});

test('operation, directives and variables decide what is selected', () => {
  const query =
    'query A { a } query B($no: Boolean = false, $yes: Boolean!) { a @include(if: $no) b @skip(if: $yes) c @include(if: $yes) d @skip(if: true) }';
  assert.equal(findKeyDisorder({ query, operationName: 'B', variables: { yes: true } }, { c: 1 }), null);
});
