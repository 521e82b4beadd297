import assert from 'node:assert/strict';
import { test } from 'node:test';
import { conditionInWords, joinConditions } from './condition-in-words.ts';

test('a condition is said as a person would', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['NOT is_private', 'not is_private'],
    ["status = 'published'::text AND kind = 'AND'::text", "status = 'published' and kind = 'AND'"],
    [
      "member_id::text = ( SELECT current_setting('request.jwt.claims'::text, true)::json ->> 'sub'::text)",
      'member_id::text = the claim sub',
    ],
    [
      "(member_id::text = ( SELECT (current_setting('request.jwt.claims'::text, true)::json) ->> 'sub'::text))",
      'member_id::text = the claim sub',
    ],
    ['( SELECT auth.uid() AS uid) = author_id', 'auth.uid() = author_id'],
    ["(auth.jwt() ->> 'role'::text) = 'editor'::text", "the claim role = 'editor'"],
    ["tenant = NULLIF(current_setting('request.jwt.claim.tenant'::text, true), ''::text)", 'tenant = the claim tenant'],
    [
      'EXISTS ( SELECT 1\n   FROM membership m\n  WHERE m.team_id = note.team_id AND m.user_id = ( SELECT auth.uid() AS uid))',
      'exists ( select 1 from membership m where m.team_id = note.team_id and m.user_id = auth.uid())',
    ],
    ["(a = 'x)'::text) OR (b = 1)", "(a = 'x)') or (b = 1)"],
    ["current_setting('app.tenant'::text) = tenant", "current_setting('app.tenant') = tenant"],
    ['((((', '(((('],
    ['', ''],
  ];
  for (const [expression, words] of cases) assert.equal(conditionInWords(expression), words);
});

test('a long condition is read quickly', () => {
  const deep = `${'( SELECT '.repeat(400)}a${')'.repeat(400)}`;
  assert.equal(conditionInWords(deep), 'a');
  assert.equal(conditionInWords(`x = ${'('.repeat(5_000)}`).length, 5_004);
});

test('conditions are joined with parentheses where they are needed', () => {
  assert.equal(joinConditions(['a', 'b and c', "d = ' or '"], 'or'), "a or (b and c) or d = ' or '");
  assert.equal(joinConditions(['a', 'a'], 'and'), 'a');
});
