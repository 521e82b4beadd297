import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { as, cte, deleteFrom, exists, insert, named, rowNumber, select, subselect, update, values, withQueries } from './clauses.ts';
import { identifier, integer, render, type Sql, sql, trusted } from './sql.ts';

const textOf = (fragment: Sql) => render(fragment).text;
const [a, b, t] = ['a', 'b', 't'].map((name) => identifier(name)) as [Sql, Sql, Sql];

describe('clauses', () => {
  it('of a select come in the order of SQL, one a line', () => {
    const all = select({
      offset: integer(2),
      limit: integer(1),
      orderBy: [b],
      having: trusted('true'),
      groupBy: [a, b],
      where: [sql`${a} = 1`, sql`${b} = 2`],
      joins: [sql`join u on true`],
      from: as(t, 't1'),
      columns: [a, b],
    });
    const lines = ['select "a", "b"', 'from "t" as t1', 'join u on true', 'where "a" = 1 and "b" = 2', 'group by "a", "b"'];
    assert.equal(textOf(all), [...lines, 'having true', 'order by "b"', 'limit 1', 'offset 2'].join('\n'));
  });

  it('are left out if absent or empty', () => {
    assert.equal(textOf(select({ columns: [a], from: null, where: [], orderBy: [], limit: null })), 'select "a"');
    assert.equal(textOf(deleteFrom(t, [])), 'delete from "t"');
    assert.equal(textOf(insert({ into: t, columns: [], rows: sql`default values` })), 'insert into "t"\ndefault values');
  });

  it('of statements that write end with what they return', () => {
    assert.equal(
      textOf(insert({ into: t, columns: [a, b], rows: values([[integer(1), integer(2)]]), returning: [a] })),
      'insert into "t" ("a", "b")\nvalues (1, 2)\nreturning "a"',
    );
    assert.equal(
      textOf(update({ table: t, set: [sql`${a} = 1`], from: trusted('u'), where: [sql`${b} = 2`], returning: [a, b] })),
      'update "t"\nset "a" = 1\nfrom u\nwhere "b" = 2\nreturning "a", "b"',
    );
  });

  it('nest, indented', () => {
    const inner = cte('c', select({ columns: [a], from: t }), { materialized: true });
    assert.equal(
      textOf(withQueries([inner], select({ columns: [a], from: as(subselect({ columns: [a], from: trusted('c') }), 'd', ['x']) }))),
      'with c as materialized (select "a"\n  from "t")\nselect "a"\nfrom (select "a"\n  from c) as d("x")',
    );
    assert.equal(textOf(exists({ from: t })), 'exists (select 1\n  from "t")');
  });

  it('name outputs', () => {
    assert.equal(textOf(named(a, 'x')), '"a" as "x"');
    assert.equal(textOf(rowNumber([a, b])), 'pg_catalog.row_number() over (order by "a", "b")');
  });
});
