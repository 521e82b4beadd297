import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { describeFileError } from '../command-error.ts';

test('the reason has neither the code nor the path', () => {
  const reasonOf = (file: string): string => {
    try {
      return readFileSync(file, 'utf8');
    } catch (error) {
      return describeFileError(error);
    }
  };
  assert.equal(reasonOf("/nope/it's, open 'a'.graphql"), 'no such file or directory');
  assert.equal(reasonOf(import.meta.dirname), 'illegal operation on a directory');
});

test('the message of another error stays as it is', () => {
  assert.equal(describeFileError(new SyntaxError('Unexpected end of JSON input')), 'Unexpected end of JSON input');
});
