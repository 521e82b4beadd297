/** Pages of distinct rows, forward and backward, have each combination of values once, as an evaluator of its own finds them. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestGraph, type TestGraph } from '../support/test-graph.ts';
import { walkPages } from '../support/walk-pages.ts';

const columns = ['a', 'b', 'c'] as const;
type ColumnName = (typeof columns)[number];
type Row = { readonly id: number } & { readonly [Name in ColumnName]: number | null };
type Key = { readonly column: ColumnName | 'id'; readonly descending: boolean; readonly nullsFirst: boolean };

/** Values repeat, and a sixth of them are null. */
const rows: readonly Row[] = Array.from({ length: 60 }, (_, index) => {
  const value = (factor: number) => ((index * factor) % 7 === 0 ? null : (index * factor) % 5);
  return { id: index + 1, a: value(3), b: value(11), c: value(17) };
});

const schemaSql = `create table thing (id int primary key, a int, b int, c int);
  create index on thing (a, b desc nulls last); comment on table thing is '@graphql({"totalCount": {"enabled": true}})';
  insert into thing values ${rows.map(({ id, a, b, c }) => `(${id}, ${a}, ${b}, ${c})`).join(', ')}`;

let graph: TestGraph;
before(async () => {
  graph = await startTestGraph(schemaSql);
});
after(() => graph.stop());

const directions = ['AscNullsFirst', 'AscNullsLast', 'DescNullsFirst', 'DescNullsLast'] as const;
type Order = readonly (readonly [ColumnName, (typeof directions)[number]])[];

const orders: readonly Order[] = [
  [],
  ...directions.map((direction) => [['a', direction]] as const),
  ...directions.map(
    (direction) =>
      [
        ['c', 'DescNullsLast'],
        ['a', direction],
      ] as const,
  ),
  [
    ['b', 'DescNullsFirst'],
    ['a', 'AscNullsFirst'],
    ['c', 'DescNullsLast'],
  ],
];
const sets: readonly (readonly ColumnName[])[] = [['a'], ['b', 'a'], ['a', 'b', 'c']];

function distinctIds(on: readonly ColumnName[], order: Order): number[] {
  const asKey = ([column, direction]: Order[number]): Key => ({
    column,
    descending: direction.startsWith('Desc'),
    nullsFirst: direction.endsWith('First'),
  });
  const plain = (column: Key['column']): Key => ({ column, descending: false, nullsFirst: false });
  const named = order.filter(([column]) => on.includes(column)).map(asKey);
  const others = on.filter((column) => !named.some((key) => key.column === column)).map(plain);
  const rest = order.filter(([column]) => !on.includes(column)).map(asKey);
  const sorted = rows.toSorted((one, other) => compare(one, other, [...named, ...others, ...rest, plain('id')]));
  const seen = new Set<string>();
  return sorted.flatMap((row) => {
    const values = JSON.stringify(on.map((column) => row[column]));
    if (seen.has(values)) return [];
    seen.add(values);
    return row.id;
  });
}

function compare(one: Row, other: Row, keys: readonly Key[]): number {
  for (const { column, descending, nullsFirst } of keys) {
    const [left, right] = [one[column], other[column]];
    if (left === right) continue;
    if (left === null || right === null) return (left === null) === nullsFirst ? -1 : 1;
    return (left < right ? -1 : 1) * (descending ? -1 : 1);
  }
  return 0;
}

interface Page {
  readonly thingCollection: {
    readonly totalCount: number;
    readonly edges: readonly { readonly cursor: string; readonly node: { readonly id: number } }[];
    readonly pageInfo: { readonly hasNextPage: boolean; readonly hasPreviousPage: boolean };
  };
}

async function walk(on: readonly ColumnName[], order: Order, isForward: boolean, size: number): Promise<number[]> {
  const fixed = `distinctOn: [${on.join()}], orderBy: [${order.map(([column, direction]) => `{${column}: ${direction}}`).join()}]`;
  const fields = 'totalCount edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage }';
  const read = async (page: string): Promise<Page['thingCollection']> => {
    const { thingCollection } = (await graph.ask(`{ thingCollection(${fixed}, ${page}) { ${fields} } }`)) as Page;
    assert.equal(thingCollection.totalCount, distinctIds(on, order).length);
    return thingCollection;
  };
  return (await walkPages(read, isForward, size)).map(({ id }) => id);
}

for (const on of sets) {
  test(`distinct on ${on.join(', ')}`, async () => {
    for (const order of orders) {
      const expected = distinctIds(on, order);
      for (const isForward of [true, false]) {
        assert.deepEqual(await walk(on, order, isForward, on.length > 2 ? 11 : 2), expected, `${JSON.stringify(order)} ${isForward}`);
      }
    }
  });
}
