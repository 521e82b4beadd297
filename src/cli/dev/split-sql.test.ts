import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lineAt, SqlSplitError, splitSql } from './split-sql.ts';

const texts = (source: string): string[] => splitSql(source).map((statement) => statement.text);

test('semicolons end statements, except inside quotes, comments and parentheses', () => {
  assert.deepEqual(
    texts(`select ';', "a;b" ; -- one; two\n/* three; /* four; */ */ create rule r as on insert to t do (select 1; select 2);`),
    [`select ';', "a;b" `, 'create rule r as on insert to t do (select 1; select 2)'],
  );
  assert.deepEqual(texts(`select e'it\\'s; ', 'it''s; \\'; select $1$2`), [`select e'it\\'s; ', 'it''s; \\'`, 'select $1$2']);
});

test('dollar quotes hold everything up to their own tag', () => {
  assert.deepEqual(texts('do $a$ begin perform $$;$$; end; $a$; select 1'), ['do $a$ begin perform $$;$$; end; $a$', 'select 1']);
  assert.deepEqual(texts('select a$b; select c$b'), ['select a$b', 'select c$b']);
});

test('a function with an SQL-standard body is one statement', () => {
  const body = 'create or replace function f() returns int begin atomic select case when true then 1 end; select 2; end';
  assert.deepEqual(texts(`${body}; begin; commit;`), [body, 'begin', 'commit']);
});

test('the rows of copy belong to their statement', () => {
  const statements = splitSql('copy t (a, b) from stdin;\n1\tx;y\n2\t\\N\n\\.\n\nselect 1;');
  assert.deepEqual(
    statements.map(({ text, copyData }) => ({ text, copyData })),
    [
      { text: 'copy t (a, b) from stdin', copyData: '1\tx;y\n2\t\\N\n' },
      { text: 'select 1', copyData: null },
    ],
  );
});

test('a text that cannot be split is rejected with the position', () => {
  const lineOf = (source: string): number => {
    try {
      splitSql(source);
    } catch (error) {
      if (error instanceof SqlSplitError) return lineAt(source, error.offset);
    }
    return assert.fail('it was split');
  };
  assert.equal(lineOf("select 1;\n\nselect 'open"), 3);
  assert.equal(lineOf('select 1;\n/* open'), 2);
  assert.equal(lineOf('select 1;\n  \\connect other\n'), 2);
  assert.equal(lineOf('\n\ncopy t from stdin;\n1\n'), 3);
  assert.deepEqual(texts('\\restrict abc\nselect 1;\n\\unrestrict abc\n'), ['select 1']);
});
