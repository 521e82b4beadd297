import assert from 'node:assert/strict';
import { test } from 'node:test';
import { filteredScalars, scalarNames } from './scalars.ts';

test('the type of scalars with a filter leaves out those without operators', () => {
  const unfiltered: readonly string[] = scalarNames.filter((name) => !(filteredScalars as readonly string[]).includes(name));
  assert.deepEqual(unfiltered, ['JSON']);
});
