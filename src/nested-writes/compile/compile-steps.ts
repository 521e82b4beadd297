/**
 * A nested write as statements: one for each step, which stores keys for later ones, and one that reads the response by the keys of the
 * written rows. For comments inserted after their posts:
 *
 *     with source as (…),
 *     written as (insert into "public"."comment" as t1 ("words", "post_id") select s.o0, s.o1 from source as s returning t1."id" as c0)
 *     select set_config('rowgraph.keys_2_c0', …, true),
 *       case when pg_catalog.count(*) < 3 then ('rowgraph: …' || …)::int4::text else '' end
 *     from written as w
 */
import { compileFilter } from '../../compile/compile-filter.ts';
import { Aliases, directScope, type Scope, tableName } from '../../compile/scope.ts';
import { type CompiledWrite, type Frame, type StatementContext, selectList, storing } from '../../compile/statement.ts';
import { comparable, differ } from '../../compile/values/comparison.ts';
import { jsonAssignment } from '../../compile/values/json-values.ts';
import { assignmentOf, conflict, incrementOf } from '../../compile/write/compile-mutation.ts';
import { besideInputs } from '../../compile/write/input-order.ts';
import { checkCount, countRow, raiseIf, resetCount } from '../../compile/write/raise.ts';
import type { Raisable } from '../../errors/raise.ts';
import type { Column, Table } from '../../model/model.ts';
import type {
  AttachStep,
  DeleteStep,
  FindStep,
  InputRows,
  InsertStep,
  KeyList,
  LockStep,
  NestedStep,
  NestedWritePlan,
  UpdateStep,
  WrittenRows,
} from '../../plan/nested-write-plan.ts';
import type { Parameter } from '../../plan/parameter.ts';
import {
  and,
  as,
  countRows,
  cte,
  deleteFrom,
  exists,
  insert,
  lines,
  select,
  subselect,
  update,
  values,
  withQueries,
} from '../../sql/clauses.ts';
import { bind, identifier, integer, join, type Sql, sql, trusted } from '../../sql/sql.ts';
import { compileInputRows, inputValues, mustBeNumbered, outputColumns } from './input-rows.ts';
import { belongsTo, isPair, keyOf } from './key-conditions.ts';
import { compileResponse } from './nested-response.ts';
import { StoredKeys } from './stored-keys.ts';

export function compileNestedWrite(plan: NestedWritePlan, context: StatementContext, frame: Frame): CompiledWrite {
  const keys = new StoredKeys(plan);
  const before = plan.steps.map((step) => compileStep(step, storing(frame), keys));
  return { before, answer: compileResponse(plan, keys, context, frame), frame, empty: 'null' };
}

function compileStep(step: NestedStep, frame: Frame, keys: StoredKeys): Sql {
  switch (step.kind) {
    case 'insert':
      return insertRows(step, frame, keys);
    case 'find':
      return findRows(step, frame, keys);
    case 'attach':
      return attachRows(step, frame, keys);
    case 'lock':
    case 'update':
    case 'delete':
      return changeRows(step, frame, keys);
  }
}

/** Columns that the input does not give take their defaults. */
function insertRows(step: InsertStep, frame: Frame, keys: StoredKeys): Sql {
  const { table, inputRows, lenient, onConflict } = step;
  const into = readList(step.into, keys);
  const shard = into && shardOutput(step, keys);
  const isNumbered = shard !== null || (into !== null && keys.labels(into) === null) || mustBeNumbered(inputRows, keys);
  const { queries, rows, count, source } = insertedRows(step, isNumbered, keys);
  const aliases = new Aliases();
  const target = directScope(aliases.next(), table);
  const inserted = (returning: readonly Sql[]): Sql =>
    insert({
      into: as(tableName(table), target.alias),
      columns: outputColumns(inputRows).map(({ column }) => identifier(column.name)),
      rows,
      onConflict: onConflict && conflict(onConflict, table, target, aliases),
      returning,
    });
  // Rows whose keys are stored are counted even if no trigger is known to skip any.
  const isCounted = !lenient && (into !== null || !table.insertsEveryRow);
  if (into === null && !isCounted && inputRows.same.length === 0 && frame.guard.length === 0)
    return queries.length > 0 ? withQueries(queries, inserted([])) : inserted([]);
  const counted = into === null ? sql`(${select({ columns: [countRows], from: trusted('written') })})` : countRows;
  const differing = sql`(select pg_catalog.min(n) from source where differs)`;
  const checks = [
    ...(isCounted ? [raiseIf(sql`${counted} < ${count}`, 'insert-left-out')] : []),
    ...(inputRows.same.length > 0 ? [raiseIf(sql`${differing} is not null`, 'values-differ', differing)] : []),
  ];
  const columns = [...(into ? keys.store(into, step, 'w', trusted(shard ? 'w.n' : 's.n'), shard !== null) : []), ...checks];
  const ofShard = shard ? [sql`${target.column(shard.column.name)} as shard`] : [];
  const written = cte('written', inserted(into ? [...keys.outputs(into, target.alias), ...ofShard] : isCounted ? [integer(1)] : []));
  const from = into && (shard ? besideSource(source, shard.name) : keys.labels(into) === null ? labelledRows : trusted('written as w'));
  return withQueries(
    [...queries, written],
    select({ columns: [selectList(frame, columns.length > 0 ? columns : [integer(1)])], from: from && keys.atHome(from) }),
  );
}

const labelledRows = sql`(select pg_catalog.row_number() over () as m, w.* from written as w) as w join source as s on s.m = w.m`;

/** The rows of an insert. */
interface InsertedRows {
  /** Common table expressions that they need. */
  readonly queries: readonly Sql[];
  readonly rows: Sql;
  readonly count: Sql;
  /** The rows as a FROM item, with their number m and label n if they are numbered. */
  readonly source: Sql;
}

function insertedRows({ table, inputRows }: InsertStep, isNumbered: boolean, keys: StoredKeys): InsertedRows {
  const cells = table.placement === null ? null : inputValues(inputRows, keys);
  const names = outputColumns(inputRows).map(({ name }) => trusted(name));
  if (cells) {
    const { labels } = inputRows;
    const numbered = cells.map((row, index) => [integer(index + 1), integer(labels[index]!), ...row]);
    const outputs = [trusted('m'), trusted('n'), ...names].map((name, index) => sql`v.${trusted(`column${index + 1}`)} as ${name}`);
    const source = subselect({ columns: outputs, from: as(sql`(${values(numbered)})`, 'v') });
    return { queries: [], rows: values(cells), count: integer(cells.length), source };
  }
  const { expression, count } = compileInputRows(inputRows, isNumbered, keys);
  const columns = names.map((name) => sql`s.${name}`);
  const rows = select({ columns, from: trusted('source as s'), orderBy: isNumbered ? [trusted('s.m')] : [] });
  return { queries: [expression], rows, count, source: trusted('source') };
}

/** The output with the distribution column, if rows of several shards may be written. */
function shardOutput({ table, inputRows }: InsertStep, keys: StoredKeys): ReturnType<typeof outputColumns>[number] | null {
  if (inputRows.labels.length === 1 && !mustBeNumbered(inputRows, keys)) return null;
  return outputColumns(inputRows).find(({ column }) => column.name === table.placement?.column) ?? null;
}

function besideSource(source: Sql, shard: string): Sql {
  const inputs = { rows: source, shard: trusted(shard), order: trusted('m') };
  return as(besideInputs({ rows: trusted('written'), shard: trusted('shard') }, inputs, [trusted('i.m, i.n')]), 'w');
}

/** A list is only stored if something reads it. */
function readList(into: KeyList | null, keys: StoredKeys): KeyList | null {
  return into !== null && keys.isRead(into) ? into : null;
}

/** Finds the row that each input row identifies by all its outputs. Raises an error with the label of the first one that does not exist. */
function findRows(step: FindStep, frame: Frame, keys: StoredKeys): Sql {
  const { table, inputRows, ensured, into } = step;
  const isOne = inputRows.labels.length === 1 && keys.labels(into) !== null && !mustBeNumbered(inputRows, keys);
  const conditions = inputRows.outputs.map(({ column }, index) => isSameValue(column, sql`t1`, trusted(`s.o${index}`)));
  const joins = [sql`join ${as(tableName(table), 't1')} on ${and(conditions)}`];
  const from = trusted('source as s');
  const outputs = keys.outputs(into, 't1');
  const found = isOne
    ? select({ columns: outputs, from, joins, limit: integer(1) })
    : select({ columns: [trusted('distinct on (s.m) s.m'), trusted('s.n'), ...outputs], from, joins, orderBy: [trusted('s.m')] });
  const checks = isOne ? [absent(inputRows, ensured)] : [missing(ensured), ...(inputRows.parents ? [several()] : [])];
  const columns = [...keys.store(into, step, 'f', trusted('f.n')), ...checks];
  return withQueries(
    [compileInputRows(inputRows, !isOne, keys).expression, cte('found', found)],
    select({ columns: [selectList(frame, columns)], from: keys.atHome(trusted('found as f')) }),
  );
}

/** The condition that a column equals a value of its type. */
function isSameValue({ name, type }: Column, row: Sql, value: Sql): Sql {
  return sql`${comparable(sql`${row}.${identifier(name)}`, type)} = ${comparable(value, type)}`;
}

function absent({ labels }: InputRows, ensured: boolean): Sql {
  const label: Parameter = { value: { kind: 'constant', value: String(labels[0]) }, encoding: { kind: 'text' } };
  return raiseIf(sql`${countRows} < 1`, whyAbsent(ensured), sql`(select ${bind(label, 'text')})`);
}

/** A row that exists unseen is named only where the insert has shown it already, by inserting nothing. */
function whyAbsent(ensured: boolean): Raisable {
  return ensured ? 'connect-denied' : 'connect-none';
}

function missing(ensured: boolean): Sql {
  const first = sql`(select pg_catalog.min(s.n) from source as s where not exists (select 1 from found as f where f.m = s.m))`;
  return raiseIf(sql`${first} is not null`, whyAbsent(ensured), first);
}

function several(): Sql {
  return raiseIf(sql`exists (select 1 from source as s group by s.n having pg_catalog.count(*) > 1)`, 'connect-several');
}

/** Sets the foreign keys of the rows that the input identifies. Rows that already refer to the right row are not written. */
function attachRows({ table, inputRows, ensured, match, set }: AttachStep, frame: Frame, keys: StoredKeys): Sql {
  const columnOf = (output: number): Column => inputRows.outputs[output]!.column;
  const valueOf = (output: number): Sql => trusted(`s.o${output}`);
  const moves = set.map((output) => differ(sql`t1.${identifier(columnOf(output).name)}`, valueOf(output), columnOf(output).type));
  const found = select({
    columns: [
      trusted('distinct on (s.m) s.m'),
      trusted('s.n'),
      ...table.primaryKey.map(({ name }, index) => sql`t1.${identifier(name)} as ${trusted(`k${index}`)}`),
      ...set.map((output) => sql`${valueOf(output)} as ${trusted(`v${output}`)}`),
      sql`${join(moves, ' or ')} as moves`,
    ],
    from: trusted('source as s'),
    joins: [
      sql`join ${as(tableName(table), 't1')} on ${and(match.map((output) => isSameValue(columnOf(output), sql`t1`, valueOf(output))))}`,
    ],
    orderBy: [trusted('s.m')],
  });
  const isSame = table.primaryKey.map((column, index) => isSameValue(column, sql`t2`, trusted(`f.k${index}`)));
  // A row stays on its shard.
  const stays = set.filter((output) => columnOf(output).name === table.placement?.column);
  isSame.push(...stays.map((output) => isSameValue(columnOf(output), sql`t2`, trusted(`f.v${output}`))));
  const written = set.filter((output) => !stays.includes(output));
  const moved = update({
    table: as(tableName(table), 't2'),
    set: written.map((output) => sql`${identifier(columnOf(output).name)} = ${trusted(`f.v${output}`)}`),
    from: trusted('found as f'),
    where: [trusted('f.moves'), ...isSame],
    returning: [integer(1)],
  });
  const key = table.primaryKey.map((_, index) => `k${index}`);
  const count = (columns: readonly string[]): Sql =>
    sql`(select pg_catalog.count(*) from (select distinct ${trusted(columns.join(', '))} from found where moves) as d)`;
  const checks = [
    missing(ensured),
    several(),
    raiseIf(sql`${count([...key, ...set.map((output) => `v${output}`)])} > ${count(key)}`, 'connect-several'),
    raiseIf(sql`${count(key)} > (select pg_catalog.count(*) from moved)`, 'connect-denied'),
  ];
  return withQueries(
    [compileInputRows(inputRows, true, keys).expression, cte('found', found, { materialized: true }), cte('moved', moved)],
    select({ columns: [selectList(frame, checks)] }),
  );
}

function changeRows(step: LockStep | UpdateStep | DeleteStep, frame: Frame, keys: StoredKeys): Sql {
  const aliases = new Aliases();
  const target = directScope(aliases.next(), step.table);
  const into = step.kind === 'delete' ? null : readList(step.into, keys);
  const { atMost } = step.rows;
  const limited = atMost && ({ kind: step.kind === 'delete' ? 'delete' : 'update', atMost } as const);
  // Citus counts nothing on the way.
  const isCounted = step.kind === 'lock' || step.table.placement !== null;
  const counted = limited && !isCounted ? [sql`${countRow(limited)} as counted`] : [];
  const returned = [...(into ? keys.outputs(into, target.alias) : [sql`1 as c`]), ...counted];
  const conditions = conditionsOf(step.rows, target, aliases, step.table, keys);
  const checks = [
    ...(limited ? [isCounted ? checkCount(limited, countRows) : resetCount] : []),
    ...(step.kind === 'update' ? disagreements(step, keys) : []),
  ];
  const stored = into ? keys.store(into, step, 'w', integer(0)) : [];
  // An aggregate, so that the select returns one row.
  const columns = stored.length > 0 || limited ? [...stored, ...checks] : [countRows, ...checks];
  return withQueries(
    [cte('changed', change(step, target, conditions, returned, keys))],
    select({
      columns: [selectList(frame, columns)],
      from: keys.atHome(trusted('(select pg_catalog.row_number() over () as m, c.* from changed as c) as w')),
    }),
  );
}

function change(
  step: LockStep | UpdateStep | DeleteStep,
  target: Scope,
  where: readonly Sql[],
  returning: readonly Sql[],
  keys: StoredKeys,
): Sql {
  const table = as(tableName(step.table), target.alias);
  switch (step.kind) {
    case 'lock': {
      const { atMost } = step.rows;
      const rows = select({ columns: returning, from: table, where, limit: atMost && sql`${bind(atMost, 'int8')} + 1` });
      // PostgreSQL cannot lock the rows of every view.
      const isView = step.table.kind === 'view' || step.table.kind === 'materialized view';
      return lines(rows, !isView && sql`for update of ${trusted(target.alias)}`);
    }
    case 'update':
      return update({ table, set: assignmentsOf(step, target, keys), where, returning });
    case 'delete':
      return deleteFrom(table, where, returning);
  }
}

function assignmentsOf({ set, increment, json, nulled, fromKeys }: UpdateStep, target: Scope, keys: StoredKeys): Sql[] {
  const first = fromKeys.filter(({ column }, index) => fromKeys.findIndex((each) => each.column === column) === index);
  return [
    ...set.map(assignmentOf),
    ...increment.map(({ column, parameter }) => incrementOf(column, parameter, target)),
    ...json.map((change) => jsonAssignment(change, target.column(change.column.name))),
    ...nulled.map((column) => sql`${identifier(column.name)} = null`),
    ...first.map((each) => sql`${identifier(each.column.name)} = ${keyValue(each, keys)}`),
  ];
}

function keyValue({ column, from, of }: UpdateStep['fromKeys'][number], keys: StoredKeys): Sql {
  return keys.only(from, of, column.type.sqlType);
}

/** Checks that relations that share a column give it the same value. */
function disagreements({ fromKeys }: UpdateStep, keys: StoredKeys): Sql[] {
  const pairs = fromKeys.flatMap((each, index) => {
    const first = fromKeys.findIndex(({ column }) => column === each.column);
    return first < index ? [differ(keyValue(fromKeys[first]!, keys), keyValue(each, keys), each.column.type)] : [];
  });
  return pairs.length > 0 ? [raiseIf(join(pairs, ' or '), 'values-differ')] : [];
}

function conditionsOf({ of, except, filter }: WrittenRows, target: Scope, aliases: Aliases, table: Table, keys: StoredKeys): Sql[] {
  const conditions: Sql[] = [];
  if (of) conditions.push(...belongsTo(of, target, keys));
  if (except) {
    const isSame = keyOf(table).map((pair) => isPair(except, 'x', pair, target, keys));
    conditions.push(sql`not ${exists({ from: keys.rows(except, 'x'), where: isSame })}`);
  }
  if (filter) conditions.push(compileFilter(filter, target, aliases));
  return conditions;
}
