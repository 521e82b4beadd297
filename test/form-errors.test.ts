/** What the error of a write says about its input and its columns, for a form to show: in names of the API, whatever they are in the database. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type PgliteGraph, startPgliteGraph } from './support/pglite-graph.ts';

let started: PgliteGraph;

before(async () => {
  started = await startPgliteGraph(`
    comment on schema public is '@graphql({"inflect_names": true})';
    create domain percent as int constraint percent_range check (value between 0 and 100);
    create table user_account (
      user_id int primary key, e_mail text not null constraint e_mail_is_unique unique, share percent, price numeric(4, 2), at timestamptz,
      settings jsonb, full_name text not null default 'nobody'
    );
    comment on column user_account.full_name is '@graphql({"name": "called"})';
    create view shown_account as select user_id as number, e_mail as mail from user_account;
    comment on view shown_account is '@graphql({"primary_key_columns": ["number"]})';
    create schema hidden;
    create table hidden.audit (user_id int not null, why_not text not null);
    create function audit() returns trigger language plpgsql security definer as $$ begin
      if new.full_name = 'audited' then insert into hidden.audit values (new.user_id); end if;
      if new.full_name = 'banned' then raise insufficient_privilege using message = 'banned', detail = 'since May', hint = 'ask us',
        column = 'full_name', table = 'user_account', constraint = 'bans'; end if;
      return new;
    end $$;
    create trigger audit after insert or update on user_account for each row execute function audit();
    create function broken(user_account) returns int stable language plpgsql as $$ begin raise check_violation; end $$;
    insert into user_account values (1, 'a@x');`);
});
after(() => started.stop());

const insert = (objects: string, selection = 'affectedCount') =>
  `mutation { insertIntoUserAccountCollection(objects: [${objects}]) { ${selection} } }`;
const update = (set: string) => `mutation { updateUserAccountCollection(set: {${set}}, filter: {userId: {eq: 1}}) { affectedCount } }`;
const table = 'UserAccount';
const column = { sqlstate: '23502', table };

/** A mutation, and its extensions without code and detail. */
const cases: Readonly<Record<string, readonly [query: string, expected: object]>> = {
  'a column without a value': [insert('{userId: 2}'), { ...column, column: 'eMail', input: 'objects[0].eMail' }],
  'a renamed column': [update('called: null'), { ...column, column: 'called', input: 'set.called' }],
  'the only object without a value': [
    insert('{userId: 2, eMail: "b"}, {userId: 3}, {userId: 4, eMail: "c"}'),
    { ...column, column: 'eMail', input: 'objects[1].eMail' },
  ],
  'one of several objects without a value': [insert('{userId: 2}, {userId: 3}'), { ...column, column: 'eMail', input: 'objects.eMail' }],
  'a write whose response is read after it': [
    insert('{userId: 2, eMail: "b"}, {userId: 3}', 'records { broken }'),
    { ...column, column: 'eMail', input: 'objects[1].eMail' },
  ],
  'a unique constraint': [
    insert('{userId: 2, eMail: "a@x"}'),
    { sqlstate: '23505', table, constraint: 'e_mail_is_unique', input: 'objects[0]' },
  ],
  'a domain': [
    insert('{userId: 2, eMail: "b", share: 101}'),
    { sqlstate: '23514', constraint: 'percent_range', input: 'objects[0].share' },
  ],
  'an update with a value that its domain refuses': [
    update('share: 101, called: "x"'),
    { sqlstate: '23514', constraint: 'percent_range', input: 'set.share' },
  ],
  'a number that does not fit': [insert('{userId: 2, eMail: "b", price: "100"}'), { sqlstate: '22003', input: 'objects[0]' }],
  'a value that cannot be read': [
    insert('{userId: 2, eMail: "b"}, {userId: 3, eMail: "c", at: "never"}'),
    { sqlstate: '22007', input: 'objects[1].at' },
  ],
  'a value that cannot be read twice': [
    insert('{userId: 2, eMail: "b", at: "never"}, {userId: 3, eMail: "c", at: "never"}'),
    { sqlstate: '22007', input: 'objects.at' },
  ],
  'an update with a value that cannot be read': [update('at: "never"'), { sqlstate: '22007', input: 'set.at' }],
  'a null character in JSON': [
    update('settings: "{\\"a\\": \\"\\\\u0000\\"}"'),
    { sqlstate: '22P05', input: 'set.settings', hint: 'PostgreSQL does not store the character U+0000. Send the JSON without \\u0000.' },
  ],
  'a table behind a view': [
    'mutation { insertIntoShownAccountCollection(objects: [{number: 2}]) { affectedCount } }',
    { ...column, column: 'eMail', input: 'objects[0]' },
  ],
  'a table that a trigger writes, which is not in the API': [
    insert('{userId: 2, eMail: "b", called: "audited"}'),
    { sqlstate: '23502', table: 'audit', column: 'why_not', input: 'objects[0]' },
  ],
  'what a trigger raises, with any state': [
    update('called: "banned"'),
    { sqlstate: '42501', table, column: 'called', constraint: 'bans', hint: 'ask us', input: 'set.called' },
  ],
  'a function of the response': [insert('{userId: 2, eMail: "b"}', 'records { broken }'), { sqlstate: '23514' }],
};

for (const [name, [query, expected]] of Object.entries(cases)) {
  test(name, async () => {
    const { errors } = await started.graph.execute({ query }, { role: 'service_role' });
    const { code, detail, ...extensions } = errors![0]!.extensions;
    assert.deepEqual(extensions, expected, errors![0]!.message);
  });
}

test('a raised error with the state of a missing privilege keeps its detail', async () => {
  const { errors } = await started.graph.execute({ query: update('called: "banned"') }, { role: 'service_role' });
  assert.deepEqual([errors![0]!.message, errors![0]!.extensions.detail], ['banned', 'since May']);
});
