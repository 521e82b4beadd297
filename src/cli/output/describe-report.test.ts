import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Finding } from '../../index.ts';
import { describeReport } from './describe-report.ts';

const open = (name: string): Finding => ({
  severity: 'error',
  code: 'writable-without-rls',
  object: 'table',
  name,
  message: 'anon can write it; enable it',
  remedy: `alter table ${name} enable row level security;`,
  contains: [],
});
const report = (findings: readonly Finding[], info = 0) => ({
  role: 'anon',
  schemas: ['public'],
  summary: { error: findings.length - info, warning: 0, info },
  findings,
});

describe('describeReport', () => {
  it('begins with a summary', () => {
    const note: Finding = { ...open('n'), severity: 'info', code: 'not-granted', remedy: null, contains: ['column n.id', 'column n.text'] };
    assert.equal(
      describeReport(report([open('a'), note], 1)),
      [
        'Role anon, schemas public: 1 error, 1 note',
        '  error    writable-without-rls  1',
        '  note     not-granted           1',
        '',
        '1 error',
        '  writable-without-rls',
        '    table a: anon can write it; enable it',
        '      alter table a enable row level security;',
        '',
        '1 note',
        '  not-granted',
        '    table n: anon can write it; enable it',
        '      also excluded: column id, column text',
        '',
      ].join('\n'),
    );
    assert.equal(describeReport(report([])), 'Role anon, schemas public: nothing to report\n');
  });

  it('combines equal findings', () => {
    const findings = Array.from({ length: 12 }, (_, number) => open(`t${number}`));
    const partitioned = { ...open('t0'), partitions: ['table p1', 'table p2'], remedy: 'alter table t0;\nalter table p1;' };
    assert.deepEqual(
      describeReport(report([partitioned, ...findings.slice(1)]))
        .split('\n')
        .slice(4),
      [
        '  writable-without-rls',
        '    12 × table: anon can write it; enable it',
        '      t0 (and 2 partitions), t1, t2, t3, t4, t5, t6, t7 and 4 more',
        '      alter table t0;',
        '      alter table p1;',
        '      alter table t1 enable row level security;',
        '      -- and 10 more; --json lists them all',
        '',
      ],
    );
  });

  it('names the partitions of a table', () => {
    const lineFor = (...partitions: string[]): string | undefined =>
      describeReport(report([{ ...open('t'), partitions }]))
        .split('\n')
        .find((line) => line.includes('also its'));
    assert.equal(lineFor('table p1'), '      also its partition p1');
    assert.equal(lineFor('table p1', 'foreign table p2'), '      also its partitions p1 and p2');
    const many = lineFor(...Array.from({ length: 10 }, (_, number) => `table p${number}`));
    assert.equal(many, '      also its partitions p0, p1, p2, p3, p4, p5, p6, p7 and 2 more');
  });

  it('prints SQL unchanged, including line breaks in names', () => {
    assert.ok(describeReport(report([open('a\nb')])).includes(`      ${open('a\nb').remedy}`));
  });

  it('keeps control characters from the terminal', () => {
    assert.match(describeReport(report([open('a\u001b[31m')])), /table a \[31m: /);
    const { remedy } = open('a\u001b[31m');
    assert.ok(remedy?.includes('\u001b') && !describeReport(report([open('a\u001b[31m')])).includes('\u001b'));
  });
});
