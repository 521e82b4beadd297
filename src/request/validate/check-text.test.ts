import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { noLimits } from '../../budget/limits.ts';
import { checkText } from './measure-document.ts';

describe('checkText', () => {
  it('counts bytes and tokens', () => {
    assert.deepEqual(checkText('\uFEFF{ a(b: "é", c: """x\ny""") } # more', noLimits), { documentBytes: 38, tokens: 11 });
    assert.deepEqual(checkText('', noLimits), { documentBytes: 0, tokens: 0 });
  });

  it('leaves syntax errors to the parser', () => {
    assert.equal(checkText('{ a ? }', noLimits).tokens, 2);
  });

  it('stops at the limits', () => {
    const over = (text: string, limits: Partial<typeof noLimits>, code: string): void =>
      assert.throws(() => checkText(text, { ...noLimits, ...limits }), { code });
    over('{ ab }', { documentBytes: 5 }, 'DOCUMENT_TOO_LARGE');
    over('#é', { documentBytes: 2 }, 'DOCUMENT_TOO_LARGE');
    over('{ a b c }', { tokens: 4 }, 'TOO_MANY_TOKENS');
    // Nothing is read beyond the limit, or it would find a syntax error.
    over('{ a b c ? }', { tokens: 3 }, 'TOO_MANY_TOKENS');
    over('{a'.repeat(1000), { depth: 100 }, 'TOO_DEEP');
    over(`{ a(b: ${'['.repeat(100_000)}`, { depth: 100 }, 'TOO_DEEP');
  });
});
