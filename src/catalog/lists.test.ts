import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseList, rowSeparator } from './lists.ts';

function parsed(text: string | null): { readonly rows: readonly unknown[]; readonly pauses: number } {
  const parsing = parseList(text, ['id', 'text', 'nothing', 'list']);
  for (let pauses = 0; ; pauses++) {
    const { done, value } = parsing.next();
    if (done) return { rows: value, pauses };
  }
}

describe('parseList', () => {
  it('reads null as no rows', () => {
    assert.deepEqual(parsed(null).rows, []);
  });

  it('reads all rows, whatever they contain, and yields within a long list', () => {
    for (const count of [1, 2, 20_000]) {
      const rows = Array.from({ length: count }, (_, index) => [index, `a,"]\u001e[${'é'.repeat(index % 7)}`, null, [index]]);
      const { rows: read, pauses } = parsed(rows.map((row) => JSON.stringify(row)).join(rowSeparator));
      assert.deepEqual(
        read,
        rows.map(([id, text, nothing, list]) => ({ id, text, nothing, list })),
      );
      assert.ok(pauses >= count / 2000, `${pauses} pauses`);
    }
  });
});
