/** A volatile function runs once for each field that calls it and each row, and what it returns arrives whole. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { startTestGraph, type TestGraph } from './support/test-graph.ts';

let started: TestGraph;

before(async () => {
  started = await startTestGraph(`
    create table account (id int primary key);
    create table entry (id int primary key, account_id int references account, note text);
    comment on table entry is '@graphql({"totalCount": {"enabled": true}, "aggregate": {"enabled": true}})';
    create table call (name text);
    insert into account values (1), (2); insert into entry values (1, 1, 'a'), (2, 1, 'b'), (3, 2, 'c');
    create function entries(account) returns setof entry language plpgsql volatile as
      $$begin insert into call values ('entries'); return query select * from entry where account_id = $1.id order by id; end$$;
    create function entries_now() returns setof entry language plpgsql volatile as
      $$begin insert into call values ('entries_now'); return query select * from entry order by id; end$$;
    create function twin(entry) returns setof entry language plpgsql volatile as
      $$begin insert into call values ('twin'); return query select * from entry where id = $1.id; end$$;
    create function shout(entry) returns text language sql stable as $$select upper($1.note)$$;
    create type pair as (x int, y text);
    create domain whole as pair;
    create type mood as enum ('so-so');
    comment on type mood is '@graphql({"mappings": {"so-so": "soso"}})';
    create function made() returns whole language plpgsql volatile as
      $$begin insert into call values ('made'); return row(1, 'a')::pair; end$$;
    create function made_of(account) returns whole language plpgsql volatile as
      $$begin insert into call values ('made_of'); return row($1.id, null)::pair; end$$;
    create function mood_of(account) returns mood language plpgsql volatile as
      $$begin insert into call values ('mood_of'); return 'so-so'; end$$;
    create function mood_or_null(account) returns mood language sql volatile as 'select null::mood';`);
});
after(() => started.stop());
beforeEach(() => started.database.run('truncate call'));

/** How often each function was called. */
async function counts(): Promise<Record<string, unknown>> {
  const rows = await started.database.run('select name, count(*)::int from call group by 1');
  return Object.fromEntries(rows.map(({ name, count }) => [name, count]));
}

test('a computed field that returns a set, whatever is selected of it', async () => {
  const of = (ids: number[]) => ({
    entries: {
      totalCount: ids.length,
      aggregate: { max: { id: ids.at(-1) } },
      edges: ids.slice(0, 1).map((id) => ({ node: { id, shout: 'abc'.charAt(id - 1).toUpperCase() } })),
      pageInfo: { hasNextPage: ids.length > 1 },
    },
  });
  const fields = 'totalCount aggregate { max { id } } edges { node { id shout } } pageInfo { hasNextPage }';
  const query = `{ accountCollection { edges { node { entries(first: 1, orderBy: [{id: AscNullsLast}]) { ${fields} } } } } }`;
  assert.deepEqual(await started.ask(query), { accountCollection: { edges: [{ node: of([1, 2]) }, { node: of([3]) }] } });
  assert.deepEqual(await counts(), { entries: 2 });
});

test('one within another', async () => {
  const query = 'mutation { entries_now { totalCount edges { node { twin { totalCount edges { node { id } } } } } } }';
  const twin = (id: number) => ({ node: { twin: { totalCount: 1, edges: [{ node: { id } }] } } });
  assert.deepEqual(await started.ask(query), { entries_now: { totalCount: 3, edges: [twin(1), twin(2), twin(3)] } });
  assert.deepEqual(await counts(), { entries_now: 1, twin: 3 });
});

test('a value of a domain over a composite type', async () => {
  assert.deepEqual(await started.ask('mutation { made { x y } }'), { made: { x: 1, y: 'a' } });
  assert.deepEqual(await started.ask('{ accountCollection { edges { node { made_of { x y } } } } }'), {
    accountCollection: { edges: [{ node: { made_of: { x: 1, y: null } } }, { node: { made_of: { x: 2, y: null } } }] },
  });
  assert.deepEqual(await counts(), { made: 1, made_of: 2 });
});

test('a value that the SQL reads several times', async () => {
  const node = { mood_of: 'soso', mood_or_null: null };
  assert.deepEqual(await started.ask('{ accountCollection { edges { node { mood_of mood_or_null } } } }'), {
    accountCollection: { edges: [{ node }, { node }] },
  });
  assert.deepEqual(await counts(), { mood_of: 2 });
});
