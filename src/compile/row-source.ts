/**
 * The rows that inputs give to a step of a nested write, as a common table expression: one array is bound for each column, whatever the number of rows.
 *
 *     source as materialized (select row_number() over (order by g.n, p.m) as m, g.n, g.a0 as o0, p.c0::int4 as o1
 *       from rows from (unnest($1::int4[]), unnest($2::int4[]), unnest($3::text[])) as g(n, p, a0) join (…) as p on p.n = g.p)
 */
import type { Column, ValueType } from '../model/model.ts';
import type { Output, RowSource } from '../plan/nested-plan.ts';
import type { Parameter } from '../plan/plan.ts';
import { bind, join, newLine, type Sql, sql, trusted } from '../sql/sql.ts';
import { keyColumn, keyRows } from './key-list.ts';

/** The expression. Its columns are `m`, the number of the row, `n`, its label, `o0`, `o1` … of the outputs, and `differs` where outputs must be the same. */
export function sourceExpression({ labels, parents, onlyIf, joins, outputs, same }: RowSource): Sql {
  const arrays = [integers(labels), ...(parents ? [integers(parents.labels)] : []), ...outputs.flatMap((output) => arrayOf(output))];
  const names = ['n', ...(parents ? ['p'] : []), ...outputs.flatMap(({ from }, index) => (from.kind === 'given' ? [`a${index}`] : []))];
  const given = sql`rows from (${join(
    arrays.map((array) => sql`pg_catalog.unnest(${array})`),
    ', ',
  )}) as g(${trusted(names.join(', '))})`;
  const from = [
    sql`from ${given}`,
    ...(parents ? [sql`join ${keyRows(parents.list, 'p')} on p.n = g.p`] : []),
    ...joins.map(({ list, optional }, index) => {
      return sql`${trusted(optional ? 'left join' : 'join')} ${keyRows(list, `j${index}`)} on ${trusted(`j${index}`)}.n = g.n`;
    }),
    ...(onlyIf ? [sql`where exists (select 1 from ${keyRows(onlyIf, 'w')})`] : []),
  ];
  const valueOf = (output: Output, index: number): Sql => {
    if (output.from.kind === 'given') return givenValue(output.column.type, output.from.use, `g.a${index}`);
    const { join: place, of } = output.from;
    const list = place === 'parents' ? parents!.list : joins[place]!.list;
    return keyColumn(list, place === 'parents' ? 'p' : `j${place}`, of, output.column.type.sqlType);
  };
  const values = outputs.map((output, index) => sql`, ${valueOf(output, index)} as ${trusted(`o${index}`)}`);
  const differences = same.map(([one, other]) => {
    const { from: origin } = outputs[other]!;
    const isThere =
      origin.kind === 'key' && typeof origin.join === 'number' ? sql` and ${trusted(`j${origin.join}`)}.n is not null` : sql``;
    return sql`(${valueOf(outputs[one]!, one)} is distinct from ${valueOf(outputs[other]!, other)}${isThere})`;
  });
  const differs = same.length > 0 ? sql`, ${join(differences, ' or ')} as differs` : sql``;
  const order = trusted(parents ? 'g.n, p.m' : 'g.n');
  const select = sql`select pg_catalog.row_number() over (order by ${order}) as m, g.n${join(values, '')}${differs}`;
  return sql`source as materialized (${select}${newLine}${join(from, newLine)})`;
}

/** The columns of the outputs with their names, each once. */
export function outputColumns({ outputs }: RowSource): { readonly column: Column; readonly name: string }[] {
  return outputs.flatMap(({ column }, index) =>
    outputs.findIndex((output) => output.column === column) === index ? [{ column, name: `o${index}` }] : [],
  );
}

function integers(values: readonly number[]): Sql {
  return bind({ value: { kind: 'constant', value: values.map(String) }, encoding: { kind: 'integers' } } satisfies Parameter, 'int4[]');
}

function arrayOf({ column: { type }, from }: Output): Sql[] {
  if (from.kind !== 'given') return [];
  const parameter: Parameter = { value: { kind: 'list', items: from.values }, encoding: { kind: 'rows', type, use: from.use } };
  return [bind(parameter, isBoundAsText(type, from.use) ? 'text[]' : `${type.sqlType}[]`)];
}

/** Arrays have no arrays as elements, and not those of every type take commas between theirs. */
function isBoundAsText(type: ValueType, use: 'write' | 'filter' | 'text'): boolean {
  if (use === 'text' || (type.kind !== 'scalar' && type.kind !== 'enum')) return true;
  return type.kind === 'scalar' && (type.scalar === 'Opaque' || type.scalar === 'JSON');
}

function givenValue(type: ValueType, use: 'write' | 'filter' | 'text', name: string): Sql {
  return isBoundAsText(type, use) ? sql`${trusted(name)}::${trusted(type.sqlType)}` : trusted(name);
}
