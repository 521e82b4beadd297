import assert from 'node:assert/strict';
import { test } from 'node:test';
import { laterOf, latestOf, parsePosition, writePosition } from './position.ts';

test('a position is read as it was written, and nothing else is one', () => {
  for (const text of ['7713161854613678706.1.0/3000148', '1.12.FFFFFFFF/FFFFFFFF', '18446744073709551615.4294967295.1A/0'])
    assert.equal(writePosition(parsePosition(text)!), text);
  const others = ['', '1.1.0/', '1.1.0/123456789', '1.1', '1.1.0/0.', ' 1.1.0/0', '1.1.0/0\n', '-1.1.0/0', '1.1.G/0', '1'.repeat(100)];
  for (const text of others) assert.equal(parsePosition(text), null, JSON.stringify(text));
});

test('the later position is the one on the later timeline, or further in the log', () => {
  const later = (one: string, other: string) => writePosition(latestOf(parsePosition(one), parsePosition(other))!);
  assert.equal(later('1.1.0/FF', '1.1.1/0'), '1.1.1/0');
  assert.equal(later('1.2.0/0', '1.1.1/0'), '1.2.0/0');
  assert.equal(later('1.1.0/0', '2.1.1/0'), '1.1.0/0', 'those of different clusters cannot be compared');
  assert.equal(latestOf(null, null), null);
  const [one, other] = ['1.1.0/A', '1.1.0/9'].map((text) => ({ text, lifetime: 5 }));
  assert.equal(laterOf(other, one), one);
  assert.equal(laterOf(undefined, one), one);
});
