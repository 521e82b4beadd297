/** Random views over small tables full of duplicates and nulls, which joins multiply: inferred keys must hold for them. */

export interface RandomViews {
  /** SQL that creates and fills the tables. */
  readonly setup: string;
  /** The views `v0`, `v1` …, which may read earlier ones. */
  readonly views: readonly RandomView[];
}

export interface RandomView {
  readonly query: string;
  /**
   * A query with the same columns, for when PostgreSQL rejects the first (a full join without an equality, a reference into the wrong side
   * of a join).
   */
  readonly substitute: string;
}

interface Shape {
  readonly name: string;
  readonly columns: readonly string[];
}

const tables: readonly Shape[] = [
  { name: 'one', columns: ['id', 'u', 'x'] },
  { name: 'two', columns: ['id', 'one_id', 'u'] },
  { name: 'pair', columns: ['p', 'q', 'x'] },
  { name: 'heap', columns: ['x', 'y'] },
];

const setup = `
create table one (id int primary key, u int unique, x int);
create table two (id int primary key, one_id int, u int not null unique);
create table pair (p int, q int, x int, primary key (p, q));
create table heap (x int, y int);
insert into one values (1, 2, 1), (2, null, 1), (3, 1, null), (4, null, 3);
insert into two values (1, 1, 4), (2, 1, 3), (3, null, 2), (4, 9, 1), (5, 3, 5);
insert into pair values (1, 1, 1), (1, 2, 1), (2, 1, null), (2, 2, 3);
insert into heap values (1, 1), (1, 1), (2, null), (null, 3);`;

/** The views for a seed. */
export function randomViews(seed: number, count: number): RandomViews {
  const random = new Random(seed);
  const known = [...tables];
  const views: RandomView[] = [];
  for (let index = 0; index < count; index += 1) {
    const { query, columns } = writeQuery(random, known, 0);
    views.push({ query, substitute: `select ${columns.map((column) => `x as ${column}`).join(', ')} from heap` });
    if (random.chance(0.15)) known.push({ name: `v${index}`, columns });
  }
  return { setup, views };
}

class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  below(bound: number): number {
    this.#state = (Math.imul(this.#state, 1664525) + 1013904223) >>> 0;
    return Math.floor((this.#state / 2 ** 32) * bound);
  }

  chance(share: number): boolean {
    return this.below(1000) < share * 1000;
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)]!;
  }
}

interface Written {
  readonly query: string;
  readonly columns: readonly string[];
}

/** A query whose columns are c1, c2 … */
function writeQuery(random: Random, known: readonly Shape[], depth: number): Written {
  const items: Shape[] = [];
  let from = '';
  const count = random.pick(depth === 0 ? [1, 2, 2, 2, 3, 3, 4] : [1, 1, 2]);
  for (let index = 0; index < count; index += 1) {
    const alias = `t${depth}${index}`;
    const { sql, columns } = writeItem(random, known, depth, items);
    const item = { name: alias, columns };
    if (index === 0) from = `${sql} ${alias}`;
    else {
      const kind = random.pick(['join', 'join', 'left join', 'left join', 'right join', 'full join', 'cross join']);
      const joined = index === 1 ? from : `(${from})`;
      const condition =
        kind === 'cross join'
          ? ''
          : ` on ${kind === 'full join' ? writeEquality(random, items, item) : writeCondition(random, items, item)}`;
      from =
        random.chance(0.2) && !sql.startsWith('lateral')
          ? `${sql} ${alias} ${kind} ${joined}${condition}`
          : `${joined} ${kind} ${sql} ${alias}${condition}`;
    }
    items.push(item);
  }
  const shown = items.flatMap(({ name, columns }) =>
    columns.filter((column) => random.chance(/^(id|p|q|c1)$/.test(column) ? 0.85 : 0.3)).map((column) => `${name}.${column}`),
  );
  if (shown.length === 0) shown.push(`${items[0]!.name}.${items[0]!.columns[0]}`);
  const columns = shown.map((_, index) => `c${index + 1}`);
  const where = random.chance(0.3) ? ` where ${writeComparison(random, items, random.pick(items))}` : '';
  return { query: withClauses(random, shown, `from ${from}${where}`), columns };
}

function withClauses(random: Random, shown: readonly string[], rest: string): string {
  const list = shown.map((column, index) => `${column} as c${index + 1}`).join(', ');
  switch (random.below(10)) {
    case 0:
      return `select distinct ${list} ${rest}`;
    case 1:
      return `select distinct on (${random.pick(shown)}) ${list} ${rest}`;
    case 2:
      return `select ${list}, count(*) as n ${rest} group by ${shown.join(', ')}`;
    case 3:
      return `select ${shown.map((column, index) => `${random.pick(['coalesce', 'abs', 'greatest'])}(${column}) % 3 as c${index + 1}`).join(', ')}, count(*) as n ${rest} group by ${shown.map((_, index) => index + 1).join(', ')}`;
    case 4:
      return combine(random, `select ${list} ${rest}`, shown.length);
    case 5:
      return `select ${list} ${rest} limit 3`;
    case 6:
      return `select ${list}, generate_series(1, 2) as g ${rest}`;
    default:
      return `select ${list} ${rest}`;
  }
}

/** Combines a query with a similar one, and possibly another. */
function combine(random: Random, query: string, count: number): string {
  const operator = random.pick(['union all', 'union', 'union', 'except', 'except all', 'intersect', 'intersect all']);
  const other = random.pick(tables);
  const list = Array.from({ length: count }, () => random.pick([...other.columns, '1', '2'])).join(', ');
  const second = random.chance(0.5)
    ? query.replaceAll(/\bone\b/g, '(select * from one where x > 0)')
    : random.pick([`select ${list} from ${other.name}`, writeValues(random, count)]);
  if (random.chance(0.3)) return `select *, 1 as tag from (${query}) a union all select *, ${random.pick([1, 2, 2, 2])} from (${second}) b`;
  const sides = random.chance(0.5) ? [query, second] : [second, query];
  const last = random.chance(0.3) ? ` ${random.pick(['union', 'intersect'])} select ${list} from ${other.name}` : '';
  const names = Array.from({ length: count }, (_, index) => `c${index + 1}`).join(', ');
  return `select ${names} from (${sides.join(` ${operator} `)}${last}) s(${names})`;
}

function writeValues(random: Random, count: number): string {
  const rows = Array.from({ length: 1 + random.below(3) }, () =>
    Array.from({ length: count }, () => random.pick([1, 2, 3, 4, 'null::int'])),
  );
  return `values ${rows.map((row) => `(${row.join(', ')})`).join(', ')}`;
}

function writeItem(
  random: Random,
  known: readonly Shape[],
  depth: number,
  before: readonly Shape[],
): { readonly sql: string; readonly columns: readonly string[] } {
  if (depth > 1 || random.chance(0.75)) {
    const { name, columns } = random.pick(random.chance(0.7) ? tables : known);
    return { sql: name, columns };
  }
  if (before.length > 0 && random.chance(0.3)) {
    const outer = random.pick(before);
    const inner = random.pick(tables);
    const what = random.pick([`count(*) as c1`, `${inner.columns[0]} as c1`]);
    const condition = `${inner.name}.${random.pick(inner.columns)} = ${outer.name}.${random.pick(outer.columns)}`;
    return { sql: `lateral (select ${what} from ${inner.name} where ${condition})`, columns: ['c1'] };
  }
  const { query, columns } = writeQuery(random, known, depth + 1);
  return random.chance(0.3)
    ? { sql: `(with w as (${query}), w2 as (select * from w) select * from w2)`, columns }
    : { sql: `(${query})`, columns };
}

function writeCondition(random: Random, items: readonly Shape[], item: Shape): string {
  const parts = Array.from({ length: 1 + random.below(3) }, () => writeComparison(random, items, item));
  return parts.join(random.chance(0.9) ? ' and ' : ' or ');
}

/** PostgreSQL supports full joins with few other conditions. */
function writeEquality(random: Random, items: readonly Shape[], { name, columns }: Shape): string {
  const other = random.pick(items);
  return `${name}.${random.pick(columns)} = ${other.name}.${random.pick(other.columns)}`;
}

function writeComparison(random: Random, items: readonly Shape[], item: Shape): string {
  // The first columns are keys, more often than not.
  const column = ({ columns }: Shape): string => (random.chance(0.5) ? columns[0]! : random.pick(columns));
  const left = `${item.name}.${column(item)}`;
  if (items.length === 0 || random.chance(0.25)) return `${left} = ${1 + random.below(3)}`;
  const other = random.pick(items);
  const right = `${other.name}.${column(other)}`;
  const operator = random.chance(0.9) ? '=' : random.pick(['>', '<>']);
  return random.chance(0.5) ? `${left} ${operator} ${right}` : `${right} ${operator} ${left}`;
}
