import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { wrapCalls } from './policy-calls.ts';

describe('wrapCalls', () => {
  it('wraps calls evaluated for each row', () => {
    assert.equal(wrapCalls("(owner = current_setting('a'::text, true))"), "(owner = (select current_setting('a'::text, true)))");
    assert.equal(
      wrapCalls("((a = auth.uid()) OR (b = (auth.jwt() ->> 'sub'::text)))"),
      "((a = (select auth.uid())) OR (b = ((select auth.jwt()) ->> 'sub'::text)))",
    );
    assert.equal(
      wrapCalls("(a = current_setting(('a.'::text || 'b'::text)))"),
      "(a = (select current_setting(('a.'::text || 'b'::text))))",
    );
    assert.equal(wrapCalls("current_setting(current_setting('a'))"), "(select current_setting(current_setting('a')))");
    assert.equal(
      wrapCalls("((x = (f((1 + 2)))) AND (y = (current_setting('a(b'))::integer))"),
      "((x = (f((1 + 2)))) AND (y = ((select current_setting('a(b')))::integer))",
    );
  });

  it('wraps calls of other functions with constant arguments', () => {
    const others = ['claim', 'private.claim', '"The ""Claim"""'];
    const wrapped: [string, string][] = [
      ["(owner = claim('sub'::text))", "(owner = (select claim('sub'::text)))"],
      ["(private.claim() = '(claim('::text)", "((select private.claim()) = '(claim('::text)"],
      ['("The ""Claim"""(1, true) = "The ""Claim""")', '((select "The ""Claim"""(1, true)) = "The ""Claim""")'],
      ['(claim(owner) = 1)', '(claim(owner) = 1)'],
      ['(claim(auth.uid(), owner) = 1)', '(claim((select auth.uid()), owner) = 1)'],
      [
        '((my_claim() = 1) AND (other.claim() = 2) AND ("x".claim() = 3))',
        '((my_claim() = 1) AND (other.claim() = 2) AND ("x".claim() = 3))',
      ],
    ];
    for (const [condition, expected] of wrapped) assert.equal(wrapCalls(condition, others), expected);
    assert.equal(wrapCalls("(owner = claim('sub'::text))"), "(owner = claim('sub'::text))");
  });

  it('leaves everything else unchanged', () => {
    for (const condition of [
      'true',
      "(owner = ( SELECT current_setting('a'::text) AS current_setting))",
      "(owner = ( SELECT ((current_setting('a'::text))::json ->> 'sub'::text)))",
      '(EXISTS ( SELECT 1 FROM member WHERE (member.id = auth.uid())))',
      "(note <> 'current_setting(''a'')'::text)",
      '("current_setting(" = 1)',
      '(my_current_setting(1) = 1)',
      // The argument differs by row.
      '(a = current_setting(key, true))',
      '(a = current_setting("sel ect", true))',
      "(a = current_setting(('app.'::text || key)))",
    ]) {
      assert.equal(wrapCalls(condition), condition);
    }
    assert.equal(wrapCalls(null), null);
  });
});
