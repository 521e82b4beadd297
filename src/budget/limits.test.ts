import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { errorCodes } from '../errors/codes.ts';
import { checkLimit, type LimitSettings, limitNames, limitSettingOf, limitTable, noLimits, overLimit, resolveLimits } from './limits.ts';

describe('resolveLimits', () => {
  it('resolves a named set, and single limits that override one', () => {
    assert.equal(resolveLimits().fields, limitTable.fields.default);
    assert.equal(resolveLimits('strict').fields, limitTable.fields.strict);
    assert.deepEqual(new Set(Object.values(resolveLimits('off'))), new Set([Infinity]));
    const mixed = resolveLimits({ base: 'strict', fields: 7, depth: 'off', aliases: undefined });
    assert.deepEqual([mixed.fields, mixed.depth, mixed.aliases], [7, Infinity, limitTable.aliases.strict]);
    assert.equal(resolveLimits({ fields: 7 }).depth, limitTable.depth.default);
  });

  it('rejects anything but a limit', () => {
    const wrong: [unknown, RegExp][] = [
      ['loose', /"off", "default" or "strict", not "loose"/],
      [{ feilds: 1 }, /"feilds" is not a limit\. The limits are documentBytes, /],
      [{ fields: 0 }, /"fields" must be a number of at least 1, or "off"/],
      [{ fields: '5' }, /"fields" must be a number/],
    ];
    for (const [settings, message] of wrong) assert.throws(() => resolveLimits(settings as LimitSettings), { name: 'TypeError', message });
  });
});

describe('the table of limits', () => {
  it('has stricter values under `strict`, and a code and a setting for each limit', () => {
    for (const name of limitNames) {
      assert.ok(limitTable[name].strict < limitTable[name].default, name);
      // The size of a response is known only after the request has run; what is stored or subscribed to was not in this request.
      const others: Record<string, number> = { responseBytes: 200, idempotencyBytes: 429, subscriptions: 429 };
      assert.equal(errorCodes[limitTable[name].code].status, others[name] ?? 400, name);
      assert.match(limitTable[name].finding, /\{n\}/);
    }
    // The text of a search is an input as well.
    const ownCodes = limitNames.filter((name) => name !== 'searchLength').map((name) => limitTable[name].code);
    assert.equal(new Set(ownCodes).size, ownCodes.length);
    assert.equal(limitSettingOf('rootFields'), 'limitRootFields');
  });

  it('accepts a count at the limit, and reports one above it', () => {
    checkLimit({ ...noLimits, fields: 3 }, 'fields', 3);
    assert.throws(() => checkLimit({ ...noLimits, fields: 3 }, 'fields', 4_000), {
      code: 'TOO_MANY_FIELDS',
      message: /^With its fragments expanded, the operation has 4,000 fields; the limit is 3\./,
      details: { limit: 'fields', maximum: 3, count: 4_000 },
    });
    for (const count of [undefined, Infinity, 2 ** 60]) {
      const { message, details } = overLimit({ ...noLimits, tokens: 3 }, 'tokens', count);
      assert.match(message, /^The document has more than 3 tokens\. /);
      assert.deepEqual(details, { limit: 'tokens', maximum: 3 });
    }
  });
});
