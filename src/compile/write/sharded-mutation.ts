/**
 * A mutation of a table that has shards. RETURNING has columns alone, because Citus refuses functions there that are not immutable; rows are
 * counted after they are written, because it counts nothing on the way; and rows of several shards come in the order of the shards, so those
 * of an insert are put in the order of the input:
 *
 *     with changed as (insert into "public"."task" as t1 ("tenant_id", "title") values ($1::int4, $2::text), ($3::int4, $4::text)
 *       returning t1."id", t1."tenant_id" as "(shard)")
 *     select concat('{"records":[', string_agg(… order by t1."(number)"), ']}') from (select c.*, i.n as "(number)" from …) as t1
 *
 * If the response needs more than the written rows, the statement stores their keys, and another one reads the response, as for other tables
 * (`written-rows.ts`). Settings are only on the coordinator, so what writes or reads one must run there.
 */
import type { Table } from '../../model/model.ts';
import type { Parameter } from '../../plan/parameter.ts';
import type { InsertPlan, MutationPlan } from '../../plan/plan.ts';
import { and, as, coalesce, countRows, cte, list, named, select, subselect, withQueries } from '../../sql/clauses.ts';
import { concatenate } from '../../sql/json-text.ts';
import { bind, builtIn, cast, identifier, integer, literal, nothing, type Sql, sql, trusted } from '../../sql/sql.ts';
import { needsOfOrder } from '../page/order-keys.ts';
import { Aliases, allNeeds, DerivedScope, directScope, needsOfValue, type RowNeeds, type Scope, tableName, tableScope } from '../scope.ts';
import { andHere, here, type Shard, shardOfFilter, shardOfKey } from '../shards.ts';
import { type CompiledWrite, type Frame, type StatementContext, selectList, storing } from '../statement.ts';
import { comparable, comparedType } from '../values/comparison.ts';
import { hasRows, readsWritten, responseNeeds, responseOfRows, shownRows, sortKeys } from './compile-response.ts';
import { besideInputs, type FreeNames } from './input-order.ts';
import { checkCount } from './raise.ts';
import { hasReadableKey, restoredValue, store, storedValue, writtenCount } from './written-rows.ts';

/** The insert, update or delete itself, with what it returns. */
export type WriteRows = (target: Scope, aliases: Aliases, returning: readonly Sql[]) => Sql;

export function compileShardedMutation(plan: MutationPlan, write: WriteRows, context: StatementContext, frame: Frame): CompiledWrite {
  const steps = plan.readsAfter ? inTwo(plan, write, context, frame) : { before: [], answer: inOne(plan, write, context, frame) };
  return { ...steps, frame, empty: 'null' };
}

function inOne(plan: MutationPlan, write: WriteRows, context: StatementContext, frame: Frame): Sql {
  const { table, members } = plan;
  const rows = new DerivedScope(context.aliases.next(), table, responseNeeds(members), table.keepsNotNull);
  const target = directScope(rows.alias, table);
  const changed = new ChangedRows(plan, rows.freeName.bind(rows));
  const response = responseOfRows(members, rows, { count: countRows, order: changed.order(rows) }, context);
  const query = cte('changed', write(target, context.aliases, changed.returning(rows.outputs(target, context.valueJson), target)));
  const from = readsWritten(plan) ? as(rows.withJson(changed.rows), rows.alias) : null;
  return keeping(frame, concatenate([...response, ...checksOf(plan)]), from, [query]);
}

function inTwo(plan: MutationPlan, write: WriteRows, context: StatementContext, frame: Frame): Pick<CompiledWrite, 'before' | 'answer'> {
  const { table, members } = plan;
  const isRead = hasRows(members);
  const isByKey = isRead && plan.kind !== 'delete' && hasReadableKey(table);
  const needs = isByKey ? responseNeeds(members) : writtenNeeds(plan);
  const rows = new DerivedScope(context.aliases.next(), table, needs, table.keepsNotNull, shardOf(plan));
  const names = isByKey ? table.primaryKey.map(({ name }) => name) : isRead ? needs.columns : [];
  const aliases = new Aliases();
  const target = directScope(aliases.next(), table);
  const changed = new ChangedRows(plan, rows.freeName.bind(rows));
  const columns = names.map((name) => target.column(name));
  const cells = names.map((name, index) => sql`${cast(sql`c.${identifier(name)}`, 'text')} as ${cell(index)}`);
  const number = changed.number ? [sql`c.${identifier(changed.number)} as n`] : [];
  const stored = sql`${as(subselect({ columns: [...(cells.length > 0 ? cells : [integer(1)]), ...number], from: as(changed.rows, 'c') }), 'w')}${andHere}`;
  const all = sql`${builtIn('json_agg', sql`w.*${changed.number ? sql` order by w.n` : nothing}`)}`;
  const values = [store(cast(coalesce(all, literal('[]')), 'text')), ...checksOf(plan)];
  const before = withQueries(
    [cte('changed', write(target, aliases, changed.returning(columns, target)))],
    select({ columns: [selectList(storing(frame), values)], from: stored }),
  );
  const records = recordsOf(names);
  const position = rows.freeName('(number)');
  const json = concatenate(
    responseOfRows(members, rows, { count: subselect({ columns: [writtenCount], from: here }), order: [rows.output(position)] }, context),
  );
  const read = isByKey ? foundRows(rows, plan, context, records, position) : restoredRows(names, table, records, position);
  return { before: [before], answer: keeping(frame, json, isRead ? as(read, rows.alias) : null) };
}

/** The result, which is set on the coordinator if anything needs it later. */
export function keeping(frame: Frame, json: Sql, from: Sql | null, queries: readonly Sql[] = []): Sql {
  const ending = (before: readonly Sql[], query: Sql): Sql => (before.length > 0 ? withQueries(before, query) : query);
  if (frame.keptAs === null) return ending(queries, select({ columns: [selectList(frame, [json])], from }));
  const name = identifier('response');
  const answer = cte('answer', select({ columns: [sql`${json} as ${name}`], from }), { materialized: true });
  return ending([...queries, answer], select({ columns: [selectList(frame, [sql`a.${name}`])], from: sql`answer as a${andHere}` }));
}

function checksOf(plan: MutationPlan): Sql[] {
  return plan.kind === 'insert' ? [] : [checkCount(plan, countRows)];
}

/** What is needed of rows that are read as they were written. */
function writtenNeeds({ table, members }: MutationPlan): RowNeeds {
  const values = shownRows(members).flatMap((row) => row.members.map(({ value }) => needsOfValue(value, table)));
  return allNeeds([...values, ...sortKeys(members).map(({ value }) => needsOfOrder(value))]);
}

/** The shard of all rows that are written, if the request has it as one value. */
function shardOf(plan: MutationPlan): Shard | undefined {
  if (plan.kind !== 'insert') return shardOfFilter(plan.table, plan.filter);
  const index = plan.columns.findIndex(({ name }) => name === plan.table.placement?.column);
  const [first, ...others] = plan.rows.map((row) => row[index] ?? null);
  const column = plan.columns[index];
  if (!column || !first || others.some((each) => !isSame(first, each))) return undefined;
  return shardOfKey(plan.table, [{ column, parameter: first }]);
}

function isSame({ value: one }: Parameter, other: Parameter | null): boolean {
  if (other === null || one.kind !== 'constant') return false;
  return other.value.kind === 'constant' && other.value.value === one.value;
}

/** The common table expression `changed`, and the place of its rows in the input. */
class ChangedRows {
  /** The name of the output with the place; null if rows need none. */
  readonly number: string | null;
  readonly #plan: MutationPlan;
  readonly #shard: string;
  readonly #names: FreeNames;
  readonly #shards: readonly Sql[];

  constructor(plan: MutationPlan, freeName: (wish: string) => string) {
    this.#plan = plan;
    this.#shard = freeName('(shard)');
    this.#names = { place: freeName('(place)'), rank: freeName('(rank)') };
    this.#shards = plan.kind === 'insert' && plan.rows.length > 1 ? shardsOf(plan) : [];
    this.number = this.#shards.length > 0 ? freeName('(number)') : null;
  }

  order(rows: DerivedScope): Sql[] {
    return this.number === null ? [] : [rows.output(this.number)];
  }

  returning(outputs: readonly Sql[], target: Scope): readonly Sql[] {
    if (this.number !== null) return [...outputs, named(target.column(this.#plan.table.placement!.column!), this.#shard)];
    return outputs.length > 0 ? outputs : [integer(1)];
  }

  get rows(): Sql {
    if (this.number === null) return trusted('changed');
    const values = sql`(values ${list(this.#shards.map((value, index) => sql`(${integer(index + 1)}, ${value})`))})`;
    const inputs = subselect({ columns: [trusted('v.column1 as n, v.column2 as shard')], from: as(values, 'v') });
    return besideInputs(
      { rows: trusted('changed'), shard: identifier(this.#shard) },
      { rows: inputs, shard: trusted('shard'), order: trusted('n') },
      [named(trusted('i.n'), this.number)],
      this.#names,
    );
  }
}

/** The value of the distribution column in each row; none if one takes its default. */
function shardsOf({ table, columns, rows }: InsertPlan): readonly Sql[] {
  const index = columns.findIndex(({ name }) => name === table.placement?.column);
  const column = columns[index];
  if (!column) return [];
  const values = rows.flatMap((row) => {
    const parameter = row[index];
    return parameter ? [bind(parameter, column.type.sqlType)] : [];
  });
  return values.length === rows.length ? values : [];
}

function cell(index: number): Sql {
  return trusted(`c${index}`);
}

/** The stored rows, in a subselect that runs on the coordinator. */
function recordsOf(names: readonly string[]): Sql {
  const cells = names.map((_, index) => cell(index));
  const types = list(cells.map((name) => sql`${name} text`));
  const record = sql`${builtIn('json_to_recordset', storedValue(trusted('json')))} as (${types})`;
  const from = sql`rows from (${record}) with ordinality as w(${list([...cells, trusted('n')])})${andHere}`;
  return as(subselect({ columns: [trusted('w.*')], from }), 'w');
}

/** The rows that the stored keys lead to, with what is related to them. */
function foundRows(rows: DerivedScope, { table }: MutationPlan, context: StatementContext, records: Sql, position: string): Sql {
  const inner = tableScope(rows.alias, table, table.keepsNotNull, rows.shard);
  const isSame = table.primaryKey.map(({ name, type }, index) => {
    const key = restoredValue(sql`w.${cell(index)}`, name, table, comparedType(type));
    return sql`${comparable(inner.column(name), type)} = ${key}`;
  });
  const { shard } = rows;
  const pinned = shard ? [sql`${inner.column(shard.column)} = ${shard.value}`] : [];
  return rows.withJson(
    subselect({
      columns: [...rows.outputs(inner, context.valueJson), named(trusted('w.n'), position)],
      from: records,
      joins: [sql`join ${as(tableName(table), inner.alias)} on ${and([...isSame, ...pinned])}`],
      // Otherwise Citus would aggregate on the shards, which it cannot beside a subquery such as the count.
      offset: integer(0),
    }),
  );
}

/** The stored rows as they were written. */
function restoredRows(names: readonly string[], table: Table, records: Sql, position: string): Sql {
  const columns = names.map((name, index) => named(restoredValue(sql`w.${cell(index)}`, name, table), name));
  return subselect({ columns: [...columns, named(trusted('w.n'), position)], from: records });
}
