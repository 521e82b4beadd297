/** `rowgraph explain` and `rowgraph advise` as processes of their own, over PostgreSQL. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { describeExplanation } from '../../src/cli/output/describe-explanation.ts';
import { operations, schemaSql } from '../explain/ten-operations.ts';
import { startTestDatabases, type TestDatabase, type TestDatabases } from '../support/test-databases.ts';
import { makeFolder, type Outcome, removeFolder, runCommand } from './run-command.ts';

let home: string;
let databases: TestDatabases;
let database: TestDatabase;
before(async () => {
  home = await makeFolder();
  databases = await startTestDatabases();
  database = await databases.create(schemaSql);
});
after(async () => {
  await databases.close();
  await removeFolder(home);
});

const run = (...flags: string[]): Promise<Outcome> => runCommand([...flags, '--database-url', database.url], { home });

/** A file in the home folder. */
async function write(name: string, text: string): Promise<string> {
  const file = path.join(home, name);
  await writeFile(file, text);
  return file;
}

describe('rowgraph explain', () => {
  it('prints operation, cost, plan, SQL, the plan of PostgreSQL and advice', async () => {
    const file = await write('kind.graphql', `${operations[1]!.query} query other { __typename }`);
    const flags = ['--operation', 'ofKind', '--variables', '{"kind": "k7"}', '--claims', '{"sub": "u1"}'];
    const { code, stdout, stderr } = await run('explain', file, ...flags);
    assert.equal(code, 0, stderr);
    const headings = stdout.split('\n').filter((line) => /^\S/.test(line));
    assert.deepEqual(headings, ['query ofKind as anon', 'Cost', 'Plan', 'SQL', "PostgreSQL's plan", 'Advice']);
    assert.match(stdout, /\n {2}\$1 = "k7"\n/);
    assert.match(stdout, /Seq Scan on public\.note t1 {2}\(cost [\d.]+, rows \d+\)\n +Filter: \(t1\.kind = 'k7'::text\)\n/);
    assert.match(stdout, /\n {4}create index concurrently on public\.note \(kind\);\n$/);
    const analyzed = await run('explain', file, ...flags, '--analyze', '--json');
    assert.equal(analyzed.code, 0, analyzed.stderr);
    const explanation = JSON.parse(analyzed.stdout);
    assert.deepEqual([explanation.mode, explanation.statements[0].databasePlan.root.actual.loops], ['analyze', 1]);
    const text = describeExplanation(explanation);
    assert.match(text, /^query ofKind as anon; it ran, and was rolled back\n/);
    assert.match(text, / {2}\(cost [\d.]+, rows \d+; really \d+ rows, \d+ removed in [\d.]+ ms\)\n +Filter: /);
  });

  it('is one line and an exit code where it cannot explain', async () => {
    const file = await write('two.graphql', 'query a { __typename } query b { noteByPk(id: 1) { id } }');
    const wrong: [flags: string[], code: number, message: RegExp][] = [
      [[file], 1, /operation/],
      [[file, '--operation', 'b', '--claims', '[]'], 2, /--claims must be a JSON object/],
      [[file, '--operation', 'b', '--variables', '7'], 2, /--variables must be a JSON object/],
      [[file, '--operation', 'b', '--role', 'nobody'], 2, /--role: the role "nobody" does not exist/],
      [[path.join(home, 'none.graphql')], 2, /cannot be read/],
      [[await write('wrong.graphql', '{ nothing }')], 1, /^rowgraph: line 1, column 3: Cannot query field "nothing"/],
    ];
    const outcomes = await Promise.all(wrong.map(([flags]) => run('explain', ...flags)));
    for (const [index, [, code, message]] of wrong.entries()) {
      const outcome = outcomes[index]!;
      assert.deepEqual([outcome.code, outcome.stdout], [code, ''], outcome.stderr);
      assert.match(outcome.stderr, message);
      assert.equal(outcome.stderr.split('\n').length, 2, outcome.stderr);
    }
  });
});

describe('rowgraph advise', () => {
  it('explains all trusted documents, with samples for their variables', async () => {
    const documents = {
      ...Object.fromEntries(operations.map(({ name, query }) => [name, query])),
      broken: '{ nothing }',
      upsert:
        'mutation upsert($objects: [NoteInsertInput!]!, $onConflict: NoteOnConflictInput!) { insertIntoNoteCollection(objects: $objects, onConflict: $onConflict) { affectedCount } }',
      again:
        'query again($kinds: [String!], $page: Int!, $cursor: Cursor) { noteCollection(first: $page, after: $cursor, filter: { kind: { in: $kinds } }) { edges { node { id } } } }',
    };
    const file = await write('documents.json', JSON.stringify(documents));
    const { code, stdout, stderr } = await run('advise', '--trusted-documents', file);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^12 operations explained, 1 not: 10 pieces of advice\n/);
    assert.match(stdout, /\n {2}create index concurrently on public\.note \(kind\);\n {2}for 2 operations: ofKind, again\n/);
    assert.match(stdout, /\nNot explained\n {2}broken: Cannot query field "nothing"/);
  });

  it('reads a log, counts, and fills in what was taken out of documents', async () => {
    const slow = (entry: object) =>
      JSON.stringify({ level: 40, msg: 'slow operation', role: 'anon', documentHash: 'abcdef0123456789', ...entry });
    const file = await write(
      'slow.log',
      [
        'not JSON, slow operation',
        JSON.stringify({ msg: 'request' }),
        slow({
          operation: null,
          document: '{ noteCollection(filter: { kind: { eq: "" } }) { edges { node { id } } } }',
          milliseconds: 600,
        }),
        slow({
          operation: null,
          document: '{ noteCollection(filter: { kind: { eq: "" } }) { edges { node { id } } } }',
          milliseconds: 900,
        }),
        slow({ operation: 'ofKind', document: operations[1]!.query, variables: { kind: 'k1' }, milliseconds: 1000 }),
        slow({ operation: null, document: 7 }),
        'null',
      ].join('\n'),
    );
    const { code, stdout, stderr } = await run('advise', '--slow-log', file, '--json');
    assert.equal(code, 0, stderr);
    const { explained, groups, failed } = JSON.parse(stdout);
    assert.deepEqual([explained, failed, groups.length], [2, [], 1]);
    assert.deepEqual(
      [groups[0].advice.sql, groups[0].count, groups[0].milliseconds],
      ['create index concurrently on public.note (kind);', 3, 2500],
    );
    assert.match((await run('advise', '--slow-log', file)).stdout, /for 2 operations: abcdef012345, ofKind; seen 3 times, 2\.5 s in total/);
  });

  it('wants one of both, that can be read', async () => {
    for (const [flags, message] of [
      [[], /give either --trusted-documents or --slow-log/],
      [['--slow-log', path.join(home, 'none.log')], /--slow-log: ENOENT/],
      [['--slow-log', await write('empty.log', '')], /the log has no slow operations/],
    ] as const) {
      const { code, stderr } = await run('advise', ...flags);
      assert.equal(code, 2);
      assert.match(stderr, message);
    }
  });
});
