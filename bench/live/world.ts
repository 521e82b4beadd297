/**
 * The world of the checker: tables whose answers depend on each other in every way that PostgreSQL knows, random writes to them, and 200
 * different subscriptions.
 */
import type { Caller } from '../../src/index.ts';

export const worldSql = `
create schema hidden;
create table hidden.member (sub text, team int, primary key (sub, team));
create table team (id int primary key, name text not null);
create table task (id int primary key generated always as identity, team_id int not null references team on delete cascade,
  title text not null, points int not null, done bool not null default false);
create table remark (id int primary key generated always as identity, task_id int not null references task on delete cascade, body text);
create table reading (id int generated always as identity, sensor int not null, value int not null, primary key (id, sensor)) partition by list (sensor);
create table reading_a partition of reading for values in (0, 1);
create table reading_b partition of reading for values in (2, 3) partition by range (id);
create table reading_b1 partition of reading_b for values from (minvalue) to (500);
create table reading_b2 partition of reading_b for values from (500) to (maxvalue);
create table counter (name text primary key, count int not null);
-- No key: its updates have no replica identity.
create table hidden.journal (team int, line text);
create unlogged table hidden.scratch (team int, mark int);
create function teams_of_caller() returns setof int language sql stable security definer
  as $$ select m.team from hidden.member m where m.sub = current_setting('request.jwt.claims', true)::json ->> 'sub' $$;
alter table task enable row level security;
create policy own on task to authenticated using (team_id in (select teams_of_caller()));
create policy open on task to anon using (exists (select from counter c where c.name = 'open' and c.count % 2 = 0) and points > 5);
alter table remark enable row level security;
create policy own on remark to authenticated using (exists (select from task t where t.id = task_id and t.points < 9));
create policy nobody on remark to anon using (false);
create view team_points as select t.id, t.name, count(k.id)::int as tasks, coalesce(sum(k.points), 0)::int as points
  from team t left join task k on k.team_id = t.id group by t.id;
comment on view team_points is '@graphql({"primary_key_columns": ["id"]})';
create function journal_of(team_number int) returns text language sql stable security definer
  as $$ select string_agg(line, ',' order by line) from hidden.journal where team = team_number $$;
create function marks_of(team_number int) returns int language plpgsql stable security definer as $$
  declare total int; begin execute 'select coalesce(sum(mark), 0) from hidden.' || 'scratch where team = $1' into total using team_number; return total; end $$;
create function _tasks_done(t team) returns int language sql stable security definer
  as $$ select count(*)::int from task k where k.team_id = t.id and k.done $$;
comment on table task is '@graphql({"totalCount": {"enabled": true}, "aggregate": {"enabled": true}})';
comment on table remark is '@graphql({"totalCount": {"enabled": true}})';
comment on table reading is '@graphql({"totalCount": {"enabled": true}, "aggregate": {"enabled": true}})';
comment on table reading_b2 is '@graphql({"totalCount": {"enabled": true}})';
insert into team select i, 'team ' || i from generate_series(0, 9) i;
insert into hidden.member select 'user ' || i, j from generate_series(0, 9) i, generate_series(0, 9) j where (i + j) % 3 = 0;
insert into task (team_id, title, points) select i % 10, 'task ' || i, i % 11 from generate_series(1, 100) i;
insert into remark (task_id, body) select 1 + i % 100, 'remark ' || i from generate_series(1, 150) i;
insert into reading (sensor, value) select i % 4, i from generate_series(1, 60) i;
insert into counter values ('open', 0), ('a', 1), ('b', 2);
insert into hidden.journal select i % 10, 'line ' || i from generate_series(1, 30) i;
insert into hidden.scratch select i % 10, i from generate_series(1, 30) i;`;

export interface Asked {
  /** A selection, for `subscription` and for `query`. */
  readonly selection: string;
  readonly caller: Caller;
}

const service: Caller = { role: 'service_role' };
const anon: Caller = { role: 'anon' };
const user = (number: number): Caller => ({ role: 'authenticated', claims: { sub: `user ${number}` } });

/** 200 cohorts: ten variants each of twenty kinds. */
export const cohorts: readonly Asked[] = Array.from({ length: 10 }, (_, n): readonly Asked[] => {
  const ask = (selection: string, caller: Caller): Asked => ({ selection: `{ ${selection} }`, caller });
  const tasks = 'edges { node { id title points done } } totalCount';
  return [
    ask(`taskCollection(filter: {points: {gt: ${n % 5}}}) { ${tasks} }`, user(n)),
    ask(`taskCollection(first: ${3 + n}, orderBy: [{points: DescNullsLast}]) { ${tasks} pageInfo { hasNextPage endCursor } }`, user(n)),
    ask(`taskCollection(filter: {team_id: {eq: ${n}}}) { edges { node { title team { name tasks_done } } } }`, anon),
    ask(`taskCollection(filter: {team_id: {eq: ${n}}}) { aggregate { count sum { points } } }`, user((n + 3) % 10)),
    ask(`teamByPk(id: ${n}) { name taskCollection { edges { node { title remarkCollection { edges { node { body } } } } } } }`, user(n)),
    ask(`teamByPk(id: ${n}) { name taskCollection { totalCount } tasks_done }`, service),
    ask(`teamCollection(filter: {id: {lte: ${n}}}) { edges { node { id name tasks_done } } }`, anon),
    ask(`remarkCollection(first: ${5 + n}) { edges { node { id body task { title points } } } }`, user(n)),
    ask(`remarkCollection(filter: {task_id: {gte: ${n * 10}}}) { totalCount }`, service),
    ask(`readingCollection(filter: {sensor: {eq: ${n % 4}}, value: {gt: ${n}}}) { totalCount edges { node { id value } } }`, service),
    ask(`readingCollection(filter: {value: {gt: ${n}}}) { aggregate { max { value } min { value } } }`, anon),
    ask(`reading_aCollection(last: ${n + 1}) { edges { node { id value } } }`, anon),
    ask(`reading_b2Collection(filter: {value: {gt: ${n}}}) { totalCount }`, service),
    ask(`team_pointsCollection(filter: {tasks: {gt: ${n}}}) { edges { node { name tasks points } } }`, service),
    ask(`team_pointsByPk(id: ${n}) { tasks points }`, anon),
    ask(`journal_of(team_number: ${n})`, user(n)),
    ask(`marks_of(team_number: ${n})`, anon),
    ask(`journal_of(team_number: ${n}) marks_of(team_number: ${n}) taskCollection { totalCount }`, user((n + 5) % 10)),
    ask(`counterCollection(filter: {count: {gt: ${n}}}) { edges { node { name count } } }`, anon),
    ask(`a: counterByPk(name: "a") { count } b: teamByPk(id: ${n}) { name }`, user(n)),
  ];
}).flat();

/** Random numbers that are the same in every run (mulberry32). */
export class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** A whole number from 0 to `sides - 1`. */
  roll(sides: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * sides);
  }
}

const someTask = 'select id from task order by id offset $ limit 1';

/** A random write, which keeps the tables at about their size. */
export function randomWrite(dice: Dice): string {
  const n = dice.roll(10);
  const m = dice.roll(100);
  const kinds: readonly (() => string)[] = [
    () => `insert into task (team_id, title, points) select ${n}, 'new ${m}', ${m % 11} where exists (select from team where id = ${n})`,
    () => `update task set points = ${m % 11}, done = ${m % 2 === 0} where id = (${someTask.replace('$', String(m))})`,
    () => `update task set team_id = ${n} where id = (${someTask.replace('$', String(m))}) and exists (select from team where id = ${n})`,
    () => `delete from task where id in (select id from task order by id desc offset ${90 + n})`,
    () => `insert into remark (task_id, body) select t.id, 'said ${m}' from (${someTask.replace('$', String(m))}) t`,
    () => `delete from remark where id in (select id from remark order by id desc offset ${120 + n})`,
    () => `insert into reading (sensor, value) values (${n % 4}, ${m}), (${m % 4}, ${n})`,
    () => `update reading set sensor = ${n % 4}, value = ${m} where id = (select min(id) + ${m} from reading)`,
    () => `delete from reading where id in (select id from reading order by id desc offset ${40 + n})`,
    () => `insert into counter values ('${'abcdef'[n % 6]}', ${m}) on conflict (name) do update set count = excluded.count`,
    () => `update counter set count = count + 1 where name = 'open'`,
    () =>
      `merge into counter c using (values ('${'abcdef'[n % 6]}', ${m % 20})) v (name, count) on c.name = v.name
        when matched and v.count < 5 and c.name <> 'open' then delete when matched then update set count = v.count when not matched then insert values (v.name, v.count)`,
    () => `insert into hidden.journal values (${n}, 'wrote ${m}')`,
    () => `update hidden.journal set line = 'again ${m}' where ctid = (select ctid from hidden.journal where team = ${n} limit 1)`,
    () => `delete from hidden.journal where ctid = any (array(select ctid from hidden.journal offset ${25 + n}))`,
    () => `insert into hidden.scratch values (${n}, ${m}); delete from hidden.scratch where mark = ${(m + 50) % 100}`,
    () => `insert into hidden.member values ('user ${n}', ${m % 10}) on conflict do nothing`,
    () => `delete from hidden.member where sub = 'user ${n}' and team = ${m % 10}`,
    () => `update team set name = 'team ${m}' where id = ${n}`,
    () =>
      `begin; update team set name = 'both ${m}' where id = ${n}; savepoint s; insert into counter values ('x', 1); rollback to s; commit`,
    () => `begin; delete from task where team_id = ${n}; rollback`,
  ];
  const rare: readonly (() => string)[] = [
    () => `delete from team where id = ${n}`,
    () => `insert into team select i, 'born ${m}' from generate_series(0, 9) i on conflict do nothing`,
    () => 'truncate remark',
    () => 'truncate reading_a',
    () => 'truncate hidden.journal, hidden.scratch',
    () => 'truncate task cascade',
  ];
  const kind = dice.roll(100) === 0 ? rare[dice.roll(rare.length)] : kinds[dice.roll(kinds.length)];
  return kind?.() ?? '';
}
