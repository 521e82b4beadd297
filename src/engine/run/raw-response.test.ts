import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { failureResponse } from './response.ts';

function overflow(): number {
  return 1 + overflow();
}

function errorOf(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

function firstError(error: unknown): { readonly message: string; readonly extensions: { readonly code: string } } {
  const { chunks } = failureResponse(error);
  return JSON.parse(Buffer.concat(chunks).toString()).errors[0];
}

describe('failureResponse', () => {
  it('reports deep nesting only if the stack overflowed', () => {
    assert.equal(firstError(errorOf(overflow)).extensions.code, 'QUERY_TOO_COMPLEX');
    for (const work of [() => new Array(-1), () => 'x'.repeat(2 ** 30), () => (1).toFixed(101), () => 'a'.normalize('x')]) {
      const error = errorOf(work);
      assert.ok(error instanceof RangeError);
      assert.equal(firstError(error).extensions.code, 'INTERNAL_ERROR', error.message);
    }
  });

  it('masks defects', () => {
    assert.doesNotMatch(firstError(new RangeError('secret')).message, /secret/);
  });
});
