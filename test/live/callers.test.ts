/** Each caller gets the rows that the caller may see, and no others, whatever happens to policies, privileges and roles meanwhile. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Caller } from '../../src/index.ts';
import { RandomSource } from '../property/random-source.ts';
import { startTestGraph, type TestGraph } from '../support/test-graph.ts';
import { until } from '../support/until.ts';
import { announceChanges, LastAnswer, nextAnswer, nextData, untilAnswer } from './answers.ts';

const schemaSql = `
create table note (id int primary key, owner text not null, body text not null default '', is_public boolean not null default false);
alter table note enable row level security;
create policy own on note for select to authenticated using (owner = current_setting('request.jwt.claims', true)::json ->> 'sub');
create policy public on note for select to anon using (is_public);
create role reader; create policy readers on note for select to authenticated using (pg_has_role(current_user, 'reader', 'member'));
create table plain (id int primary key, owner text); insert into plain values (1, 'ada'), (2, 'bob');
create table shelf (id int primary key, label text); insert into shelf values (1, 'one');
create view own_note as select id, owner from note; alter view own_note set (security_invoker = on);
comment on view own_note is '@graphql({"primary_key_columns": ["id"]})';
create function mine() returns bigint language sql stable as
  'select count(*) from note n where n.owner = current_setting(''request.jwt.claims'', true)::json ->> ''sub''';
create role clerk; grant clerk to authenticator; grant usage on schema public to clerk; grant select on shelf to clerk;`;

const user = (sub: string): Caller => ({ role: 'authenticated', claims: { sub } });
const notes = '{ noteCollection(first: 100, orderBy: {id: AscNullsLast}) { edges { node { id owner body } } } }';

for (const announced of [false, true]) {
  describe(announced ? 'with triggers that notify' : 'polled', () => {
    let tested: TestGraph;
    before(async () => {
      tested = await startTestGraph(schemaSql, { live: announced ? 'notify' : 'poll', liveInterval: 5, requestHeaders: ['x-share'] });
      if (announced) await announceChanges(tested.database);
    });
    after(() => tested.stop());

    const follow = (query: string, caller: Caller) => new LastAnswer(tested.graph, `subscription ${query}`, caller);

    test('mixed roles and claims: no row of another caller, and at last all of their own', async () => {
      const random = new RandomSource(7);
      const names = Array.from({ length: 12 }, (_, index) => `user${index}`);
      const callers: Caller[] = [...names.map(user), { role: 'anon' }, { role: 'service_role' }];
      const queries = [
        notes,
        '{ own_noteCollection(first: 100, orderBy: {id: AscNullsLast}) { edges { node { id owner } } } }',
        '{ mine }',
      ];
      const followed = callers.flatMap((caller) => queries.map((query) => ({ caller, query, last: follow(query, caller) })));
      const seen: string[] = [];
      const strangers = followed.flatMap(({ caller, last }) => {
        const own = caller.claims?.['sub'];
        return typeof own === 'string' ? [{ own, last }] : [];
      });
      const check = (): void => {
        for (const { own, last } of strangers)
          for (const [, owner] of last.text.matchAll(/"owner":"(\w+)"/g)) if (owner !== own) seen.push(`${own} saw ${owner}`);
      };
      for (let write = 0; write < 120; write += 1) {
        const [id, owner] = [random.integer(1, 60), names[random.integer(0, names.length - 1)]];
        await tested.database.run(
          random.integer(0, 4) === 0
            ? `delete from note where id = ${id}`
            : `insert into note values (${id}, '${owner}', '${write}', ${write % 2 === 0})
               on conflict (id) do update set owner = excluded.owner, body = excluded.body, is_public = excluded.is_public`,
        );
        check();
      }
      const differing = async () => {
        const pairs = followed.map(
          async ({ caller, query, last }) => JSON.stringify(await tested.graph.execute({ query }, caller)) !== last.text,
        );
        return (await Promise.all(pairs)).filter(Boolean).length;
      };
      for (let attempt = 0; (await differing()) > 0; attempt += 1) {
        assert.ok(attempt < 100, 'some answers stay behind');
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      check();
      assert.deepEqual(seen, []);
      await Promise.all(followed.map(({ last }) => last.stop()));
    });

    test('what did not depend on the claims comes to: equal subscriptions part', async () => {
      const query = 'subscription { plainCollection { edges { node { owner } } } }';
      const [ada, bob] = [tested.graph.subscribe({ query }, user('ada')), tested.graph.subscribe({ query }, user('bob'))];
      for (const each of [ada, bob]) await nextData(each);
      await tested.database.run(`alter table plain enable row level security;
        create policy own on plain using (owner = current_setting('request.jwt.claims', true)::json ->> 'sub')`);
      const ofOwner = (owner: string) => ({ plainCollection: { edges: [{ node: { owner } }] } });
      await untilAnswer(ada, ofOwner('ada'));
      await untilAnswer(bob, ofOwner('bob'));
      await tested.database.run(
        "insert into plain values (3, 'bob'); drop policy own on plain; alter table plain disable row level security",
      );
      const all = { plainCollection: { edges: ['ada', 'bob', 'bob'].map((owner) => ({ node: { owner } })) } };
      await untilAnswer(ada, all);
      await untilAnswer(bob, all);
      await Promise.all([ada.return?.(), bob.return?.()]);
    });

    test('nor do equal callers share what comes to depend on the head of their requests', async () => {
      const headed = (token: string) =>
        new LastAnswer(tested.graph, 'subscription { plainCollection(filter: {id: {lt: 3}}) { edges { node { id } } } }', user('eve'), {
          http: { method: 'POST', url: '/graphql/v1', headers: { 'x-share': token } },
        });
      const answer = (...nodes: string[]) => `{"data":{"plainCollection":{"edges":[${nodes.map((id) => `{"node":{"id":${id}}}`)}]}}}`;
      const followed = ['1', '2', '2'].map((token) => ({ token, last: headed(token) }));
      await until(() => followed.every(({ last }) => last.text === answer('1', '2')));
      await tested.database.run(`alter table plain enable row level security; create policy shared on plain for select to authenticated
        using (id::text = current_setting('request.headers', true)::json ->> 'x-share')`);
      await until(() => {
        for (const { token, last } of followed) assert.notEqual(last.text, answer(token === '1' ? '2' : '1'));
        return followed.every(({ token, last }) => last.text === answer(token));
      });
      for (const { last } of followed) await last.stop();
      await tested.database.run('drop policy shared on plain; alter table plain disable row level security');
    });

    test('a policy that changes changes the answers', async () => {
      await tested.database.run("truncate note; insert into note values (1, 'ada', 'x', false)");
      const answers = tested.graph.subscribe({ query: `subscription ${notes}` }, user('eve'));
      assert.deepEqual(await nextData(answers), { noteCollection: { edges: [] } });
      await tested.database.run('create policy all_notes on note for select to authenticated using (true)');
      await untilAnswer(answers, { noteCollection: { edges: [{ node: { id: 1, owner: 'ada', body: 'x' } }] } });
      await tested.database.run('drop policy all_notes on note');
      await untilAnswer(answers, { noteCollection: { edges: [] } });
      await answers.return?.();
    });

    test('a privilege that is revoked ends a subscription with a code', async () => {
      const answers = tested.graph.subscribe({ query: 'subscription { shelfCollection { edges { node { label } } } }' }, { role: 'clerk' });
      await nextData(answers);
      await tested.database.run('revoke select on shelf from clerk');
      await untilAnswer(answers, 'GRAPHQL_VALIDATION_FAILED');
      assert.deepEqual(await answers.next(), { done: true, value: undefined });
      await tested.database.run('grant select on shelf to clerk');
    });

    test('a role that requests may no longer run as ends its subscriptions', async () => {
      const answers = tested.graph.subscribe({ query: 'subscription { shelfCollection { edges { node { label } } } }' }, { role: 'clerk' });
      await nextData(answers);
      await tested.database.run('revoke clerk from authenticator');
      await untilAnswer(answers, 'UNAUTHENTICATED');
      assert.deepEqual(await answers.next(), { done: true, value: undefined });
      await tested.database.run('grant clerk to authenticator');
    });

    test('what was granted and revoked between two looks at the roles does not stay', async (context) => {
      if (tested.database.version < 15) return context.skip('PostgreSQL 14 does not say that anything was changed and undone');
      await tested.database.run("truncate note; insert into note values (1, 'ada', 'x', true)");
      const answers = tested.graph.subscribe({ query: `subscription ${notes}` }, user('guest'));
      const seen = async (bodies: readonly string[]) =>
        untilAnswer(answers, { noteCollection: { edges: bodies.map((body) => ({ node: { id: 1, owner: 'ada', body } })) } });
      await seen([]);
      for (const body of 'pqrs') {
        // Its writes are known when it has ended.
        const session = await tested.database.connect();
        await session.query(`grant reader to authenticated; update note set body = '${body}'`);
        await seen([body]);
        await session.query('revoke reader from authenticated');
        await session.end();
        await seen([]);
      }
      await answers.return?.();
    });

    test('a column that is dropped ends what reads it, and nothing else', async () => {
      await tested.database.run(
        'create table spare (id int primary key, a int, b int); insert into spare values (1, 2, 3); grant all on spare to anon',
      );
      await tested.graph.reload();
      const reads = (column: string) =>
        tested.graph.subscribe({ query: `subscription { spareCollection { edges { node { ${column} } } } }` }, { role: 'anon' });
      const [a, b] = [reads('a'), reads('b')];
      for (const each of [a, b]) await nextData(each);
      await tested.database.run('alter table spare drop column a');
      assert.equal((await nextAnswer(a)).errors?.[0]?.extensions.code, 'GRAPHQL_VALIDATION_FAILED');
      await tested.database.run('update spare set b = 4');
      await untilAnswer(b, { spareCollection: { edges: [{ node: { b: 4 } }] } });
      await b.return?.();
    });
  });
}
