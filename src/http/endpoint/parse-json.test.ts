/** Compares the parser of long texts with `JSON.parse`: both must return the same values, and reject the same texts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RandomSource } from '../../../test/property/random-source.ts';
import { ApiError } from '../../errors/api-error.ts';
import { parseJson } from './parse-json.ts';

/** Spaces that make any text a long one. */
const padding = ' '.repeat(64 * 1024);

/** The value, and how often the work paused. */
function parse(text: string): { readonly value: unknown; readonly pauses: number } {
  const work = parseJson(text);
  for (let pauses = 0; ; pauses++) {
    const { done, value } = work.next();
    if (done) return { value, pauses };
  }
}

function makeValue(random: RandomSource, depth: number): unknown {
  const kind = random.integer(0, depth > 4 ? 4 : 7);
  if (kind === 0) return random.pick([null, true, false]);
  if (kind === 1) return random.pick([0, -0.5, 12, 1e21, 1e-7, -(2 ** 40)]);
  if (kind < 5) return random.pick(['', 'plain', 'a "quote"', '\\', '\n\u2028\ud800', '\u0001', '__proto__', 'é😀', '//']);
  const length = random.integer(0, 4);
  if (kind === 5) return Array.from({ length }, () => makeValue(random, depth + 1));
  const keys = Array.from({ length }, (_, index) => random.pick(['a', '__proto__', '1', 'é"', `k${index}`, 'constructor', '']));
  return Object.fromEntries(keys.map((key) => [key, makeValue(random, depth + 1)]));
}

/** The result of parsing a text: its value serialized again, or the fact that it is rejected. */
function outcome(parseText: (text: string) => unknown, text: string): string {
  try {
    return JSON.stringify(parseText(text));
  } catch (error) {
    assert.ok(error instanceof SyntaxError, String(error));
    return 'refused';
  }
}

test('returns what JSON.parse returns, and rejects what it rejects', () => {
  const random = new RandomSource(13);
  let refused = 0;
  for (let round = 0; round < 3000; round++) {
    let text = JSON.stringify(makeValue(random, 0), null, random.pick([0, 1, '\t']));
    // Long containers are taken apart, short ones are not.
    if (round % 20 === 0) text = text.replaceAll(/[[{,]/g, `$&${' '.repeat(4096)}`);
    if (random.chance(0.6)) {
      const place = random.integer(0, text.length);
      const piece = random.pick([
        '',
        ',',
        '"',
        '[',
        ']',
        '{',
        '}',
        ':',
        '\\',
        '\\u12',
        '0',
        '-',
        '.',
        'e',
        ' ',
        '\n',
        '\u0000',
        '\u00a0',
        'null',
        '"a":1,',
      ]);
      text = text.slice(0, place) + piece + text.slice(place + random.integer(0, 2));
    }
    const expected = outcome(JSON.parse, text);
    if (expected === 'refused') refused += 1;
    assert.equal(
      outcome((long) => parse(long).value, padding + text),
      expected,
      text,
    );
    assert.equal(
      outcome((long) => parse(long).value, text + padding),
      expected,
      text,
    );
  }
  assert.ok(refused > 300 && refused < 2700, `${refused} of 3000 are refused`);
});

test('pauses in long texts, never in short ones', () => {
  const rows = (count: number): string => JSON.stringify(Array.from({ length: count }, (_, id) => ({ id, [`key${id}`]: 'text' })));
  assert.equal(parse(rows(1000)).pauses, 0);
  const long = rows(20_000);
  const { value, pauses } = parse(long);
  assert.equal(JSON.stringify(value), long);
  assert.ok(pauses > 100, String(pauses));
});

test('a member named __proto__ is an ordinary member', () => {
  const value = parse(`${padding}{"__proto__":{"query":"x"}}`).value as Record<string, unknown>;
  assert.equal(Object.getPrototypeOf(value), Object.prototype);
  assert.deepEqual(Object.keys(value), ['__proto__']);
});

test('endless brackets are rejected early; strings of any length are read', () => {
  const isTooDeep = (error: unknown): boolean => error instanceof ApiError && error.code === 'TOO_DEEP';
  assert.throws(() => parse('['.repeat(1_000_000)), isTooDeep);
  assert.throws(() => parse('{"a":'.repeat(200_000)), isTooDeep);
  assert.throws(() => parse(`"${'x'.repeat(1_000_000)}`), SyntaxError);
  assert.throws(() => parse(`"${'\\n'.repeat(500_000)}`), SyntaxError);
  for (const text of ['x'.repeat(1_000_000), `${'x'.repeat(1_000_000)}\n`, '\n'.repeat(500_000)])
    assert.equal(parse(JSON.stringify(text)).value, text);
});
