/** The steps of a nested write that find existing rows, either to store their keys or to set their foreign keys. */

import { tableName } from '../../compile/scope.ts';
import { type Frame, selectList } from '../../compile/statement.ts';
import { comparable, differ } from '../../compile/values/comparison.ts';
import { raiseIf } from '../../compile/write/raise.ts';
import type { Raisable } from '../../errors/raise.ts';
import type { Column } from '../../model/model.ts';
import type { AttachStep, FindStep, RowSource } from '../../plan/nested-write-plan.ts';
import type { Parameter } from '../../plan/plan.ts';
import { bind, identifier, join, newLine, type Sql, sql, trusted } from '../../sql/sql.ts';
import { keepKeys, keptColumns } from './key-list.ts';
import { compileSource, mustBeNumbered } from './row-source.ts';

/**
 * Finds the row that each source row identifies by all its outputs. Raises an error with the label of the first one that does not exist. A
 * single row needs no number.
 */
export function findRows({ table, source, ensured, into, appends }: FindStep, frame: Frame): Sql {
  const isOne = source.labels.length === 1 && into.labels !== null && !mustBeNumbered(source);
  const conditions = source.outputs.map(({ column }, index) => isSameValue(column, sql`t1`, trusted(`s.o${index}`)));
  const rows = sql`source as s join ${tableName(table)} as t1 on ${join(conditions, ' and ')}`;
  const kept = keptColumns(into, 't1');
  const found = isOne
    ? sql`select ${kept}${newLine}from ${rows} limit 1`
    : sql`select distinct on (s.m) s.m, s.n, ${kept}${newLine}from ${rows} order by s.m`;
  const checks = isOne ? [absent(source, ensured)] : [missing(ensured), ...(source.parents ? [several()] : [])];
  const columns = [...keepKeys(into, trusted('f.n'), 'f', appends), ...checks];
  return sql`with ${compileSource(source, !isOne).expression},${newLine}found as (${found})${newLine}select ${selectList(frame, columns)}${newLine}from found as f`;
}

/** The condition that a column equals a value of its type. */
function isSameValue({ name, type }: Column, row: Sql, value: Sql): Sql {
  return sql`${comparable(sql`${row}.${identifier(name)}`, type)} = ${comparable(value, type)}`;
}

/** Raises an error if the only row does not exist. */
function absent({ labels }: RowSource, ensured: boolean): Sql {
  const label: Parameter = { value: { kind: 'constant', value: String(labels[0]) }, encoding: { kind: 'text' } };
  return raiseIf(sql`pg_catalog.count(*) < 1`, whyAbsent(ensured), sql`(select ${bind(label, 'text')})`);
}

/** A row that exists unseen is named only where the insert has shown it already, by inserting nothing. */
function whyAbsent(ensured: boolean): Raisable {
  return ensured ? 'connect-denied' : 'connect-none';
}

function missing(ensured: boolean): Sql {
  const first = sql`(select pg_catalog.min(s.n) from source as s where not exists (select 1 from found as f where f.m = s.m))`;
  return raiseIf(sql`${first} is not null`, whyAbsent(ensured), first);
}

/** Raises an error if a row would have to refer to several rows. */
function several(): Sql {
  const isSeveral = sql`exists (select 1 from source as s group by s.n having pg_catalog.count(*) > 1)`;
  return raiseIf(isSeveral, 'connect-several');
}

/** Sets the foreign keys of the rows that the source identifies. Rows that already refer to the right row are not written. */
export function attachRows({ table, source, ensured, match, set }: AttachStep, frame: Frame): Sql {
  const columnOf = (output: number) => identifier(source.outputs[output]!.column.name);
  const conditions = match.map((output) => isSameValue(source.outputs[output]!.column, sql`t1`, trusted(`s.o${output}`)));
  const key = table.primaryKey.map(({ name }, index) => sql`t1.${identifier(name)} as ${trusted(`k${index}`)}`);
  const values = set.map((output) => sql`${trusted(`s.o${output}`)} as ${trusted(`v${output}`)}`);
  const moves = set.map((output) => differ(sql`t1.${columnOf(output)}`, trusted(`s.o${output}`), source.outputs[output]!.column.type));
  const rows = sql`source as s join ${tableName(table)} as t1 on ${join(conditions, ' and ')}`;
  const found = sql`found as materialized (select distinct on (s.m) s.m, s.n, ${join([...key, ...values], ', ')}, ${join(moves, ' or ')} as moves${newLine}from ${rows} order by s.m)`;
  const assignments = set.map((output) => sql`${columnOf(output)} = ${trusted(`f.v${output}`)}`);
  const isSame = table.primaryKey.map((column, index) => isSameValue(column, sql`t2`, trusted(`f.k${index}`)));
  const update = sql`update ${tableName(table)} as t2${newLine}set ${join(assignments, ', ')}${newLine}from found as f${newLine}where f.moves and ${join(isSame, ' and ')}${newLine}returning 1`;
  const keys = trusted(table.primaryKey.map((_, index) => `k${index}`).join(', '));
  const pairs = trusted([...table.primaryKey.map((_, index) => `k${index}`), ...set.map((output) => `v${output}`)].join(', '));
  const count = (columns: Sql) => sql`(select pg_catalog.count(*) from (select distinct ${columns} from found where moves) as d)`;
  const checks = [
    missing(ensured),
    several(),
    raiseIf(sql`${count(pairs)} > ${count(keys)}`, 'connect-several'),
    raiseIf(sql`${count(keys)} > (select pg_catalog.count(*) from moved)`, 'connect-denied'),
  ];
  return sql`with ${compileSource(source, true).expression},${newLine}${found},${newLine}moved as (${update})${newLine}select ${selectList(frame, checks)}`;
}
