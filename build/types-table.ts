/** Writes the table of docs/types.md from the table of types: node build/types-table.ts */
import { readFileSync, writeFileSync } from 'node:fs';
import { forms } from '../src/model/types/metrics.ts';
import { type PostgresType, postgresTypes } from '../src/model/types/postgres-types.ts';
import { scalars } from '../src/model/types/scalars.ts';
import { typeFilters } from '../src/model/types/type-filters.ts';
import { replaceTable } from './settings-table.ts';

/** The names of types that people use, if PostgreSQL calls them otherwise. */
const usual: Readonly<Record<string, string>> = {
  int2: 'smallint',
  int4: 'integer',
  int8: 'bigint',
  float4: 'real',
  float8: 'double precision',
  bool: 'boolean',
  char: '"char"',
  bpchar: 'char',
};

const shorthand = { comparisons: ['eq', 'neq', 'lt', 'lte', 'gt', 'gte', 'in', 'notIn', 'between'], extremes: ['min', 'max'] } as const;

/** The page with a current table. Types that have the same share a row. */
export function withTypes(page: string): string {
  const rows = new Map<string, { readonly names: string[]; readonly cells: readonly string[] }>();
  for (const [name, traits] of Object.entries(postgresTypes)) {
    if (traits.pseudo !== null || traits.isVector) continue;
    const cells = cellsOf(traits);
    const row = rows.get(cells.join('|')) ?? { names: [], cells };
    row.names.push(`\`${usual[name] ?? name}\``);
    rows.set(cells.join('|'), row);
  }
  const table = [...rows.values()].map(({ names, cells }) => [names.join(', '), ...cells]);
  return replaceTable(
    page,
    ['PostgreSQL', 'GraphQL', 'filters, besides `is`', 'aggregates', 'groups by', 'increments by', '`nearest` by'],
    table,
  );
}

function cellsOf(type: PostgresType): readonly string[] {
  const { operators, groupUnits } = scalars[type.scalar];
  const units = { value: 'value', date: 'value, week to year', time: 'value, second to year' }[groupUnits];
  const ranges = type.number?.ranges ? ', range' : '';
  const amount = { own: 'the type', interval: '`interval`' };
  return [
    `\`${type.scalar}\``,
    listed(type.scalar === 'JSON' ? ['as [JSON](additions/json.md)'] : (type.filter ? typeFilters[type.filter] : { operators }).operators),
    listed(Object.keys(type.aggregates)),
    type.orders ? `${units}${ranges}` : '',
    type.increments === null ? '' : amount[type.increments],
    listed(nearestBy(type)),
  ];
}

function nearestBy({ measured, aggregates }: PostgresType): readonly string[] {
  const form = measured ?? (aggregates.max === 'String' ? 'text' : null);
  if (form === null) return [];
  return form === 'shape' ? ['the distance'] : forms[form].metrics;
}

/** The names, of which some stand for several. */
function listed(names: readonly string[]): string {
  const whole = Object.entries(shorthand).filter(([, members]) => members.every((member) => names.includes(member)));
  const rest = names.filter((name) => !whole.some(([, members]) => (members as readonly string[]).includes(name)));
  return [...whole.map(([name]) => name), ...rest.map((name) => (name.includes(' ') ? name : `\`${name}\``))].join(', ');
}

if (import.meta.main) {
  const file = new URL('../docs/types.md', import.meta.url);
  writeFileSync(file, withTypes(readFileSync(file, 'utf8')));
}
