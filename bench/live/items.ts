/** Rows of 1,000 owners, each of whom sees only their own, and the callers that they are. */
import type { Caller } from '../../src/index.ts';

export const owners = 1000;

export const itemsSql = `
create table item (id int primary key generated always as identity, owner text not null, n bigint not null, body text not null);
create index on item (owner);
alter table item enable row level security;
create policy own on item to authenticated using (owner = current_setting('request.jwt.claims', true)::json ->> 'sub');
create policy guest on item to anon using (owner = current_setting('request.jwt.claims', true)::json ->> 'sub');
insert into item (owner, n, body) select 'owner ' || i, 0, 'row ' || j from generate_series(0, ${owners - 1}) i, generate_series(1, 3) j;
create table page (id int primary key, n bigint not null, body text not null);
insert into page values (1, 0, repeat('x', 2000));
create table entry (id int primary key generated always as identity, body text not null);`;

/** Every third is of another role. */
export const callerOf = (owner: number): Caller => ({
  role: owner % 3 === 0 ? 'anon' : 'authenticated',
  claims: { sub: `owner ${owner}` },
});

export const itemSelection = '{ itemCollection { edges { node { id owner n body } } } }';
export const pageSelection = '{ pageByPk(id: 1) { n body } }';

/** A number at this share of all numbers, in order; NaN of none. */
export function quantile(numbers: readonly number[], share: number): number {
  const sorted = numbers.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
