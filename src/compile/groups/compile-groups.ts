/**
 * Groups of all rows that match the filter, in one pass: a subselect groups the rows and orders and limits the groups, and the select
 * around it aggregates their JSON. For `groups(by: [{status: VALUE}, {soldAt: MONTH}], having: {count: {gt: 10}}) { key { status } sum {
 * price } }`:
 *
 *     (select concat('[', coalesce(string_agg(concat('{"key":{"status":"', t2."key 1", '"},"sum":{"price":"', t2."value 1", '"}}'), ','), ''), ']')
 *      from (select t1."status" as "key 1", pg_catalog.date_trunc('month', t1."sold_at") as "key 2", sum(t1."price") as "value 1"
 *        from "public"."sale" as t1 group by 1, 2 having pg_catalog.count(*) > $1 order by 1, 2 limit 30) as t2)
 */
import type { Relation, Table } from '../../model/model.ts';
import { traitsOf } from '../../model/types/named-types.ts';
import type {
  AggregateColumnValue,
  ConnectionPlan,
  GroupAggregate,
  GroupCondition,
  GroupKeyValue,
  GroupOrderKey,
  GroupsPlan,
  GroupValue,
  Member,
} from '../../plan/plan.ts';
import { concatenate, type JsonText, jsonObject } from '../../sql/json-text.ts';
import { identifier, integer, join, newLine, nothing, type Sql, sql, trusted } from '../../sql/sql.ts';
import { countSql, type Source, sourceRows, where } from '../page/page-query.ts';
import { joinConditions, tableSource } from '../related-rows.ts';
import { directScope, type Scope } from '../scope.ts';
import { type StatementContext, typeNameJson } from '../statement.ts';
import { aggregateCall, aggregateJson } from '../values/aggregate-value.ts';
import { comparisonOf } from '../values/comparison.ts';
import { groupExpression, groupKeyJson } from './group-key.ts';

/** The groups as a select that returns one text. */
export function selectGroups(connection: ConnectionPlan, groups: GroupsPlan, source: Source, context: StatementContext): Sql {
  return new GroupsCompiler(connection, groups, source, context).compile();
}

class GroupsCompiler {
  readonly #groups: GroupsPlan;
  readonly #context: StatementContext;
  readonly #rows: ReturnType<typeof sourceRows>;
  readonly #joins: JoinedRows;
  readonly #alias: string;
  /** The aggregates that the JSON needs, which the subselect returns. */
  readonly #values: { readonly of: GroupAggregate; readonly call: Sql }[] = [];

  constructor(connection: ConnectionPlan, groups: GroupsPlan, source: Source, context: StatementContext) {
    this.#groups = groups;
    this.#context = context;
    this.#rows = sourceRows(connection, source, context.aliases);
    this.#joins = new JoinedRows(this.#rows.scope, context);
    this.#alias = context.aliases.next();
  }

  compile(): Sql {
    const { by, having, order, limit, offset, members } = this.#groups;
    // The JSON comes first, because compiling it determines the aggregates that it needs.
    const json = concatenate(jsonObject(members.map((member) => ({ key: this.#context.key(member), value: this.#member(member.value) }))));
    const keys = by.map((each, index) => sql`${groupExpression(each, this.#joins.scopeOf(each.path))} as ${keyName(index)}`);
    const values = this.#values.map(({ call }, index) => sql`${call} as ${valueName(index)}`);
    const from = sql`${newLine}from ${this.#rows.from}${this.#joins.joins()}${where(this.#rows.conditions)}`;
    const groupBy = sql`${newLine}group by ${join(
      by.map((_, index) => integer(index + 1)),
      ', ',
    )}`;
    const wanted = having ? sql`${newLine}having ${this.#condition(having)}` : nothing;
    const orderBy = sql`${newLine}order by ${join(
      order.map((key) => this.#orderKey(key)),
      ', ',
    )}`;
    const cut = sql` limit ${countSql(limit)}${offset === null ? nothing : sql` offset ${countSql(offset)}`}`;
    const rows = sql`select ${join([...keys, ...values], ', ')}${from}${groupBy}${wanted}${orderBy}${cut}`;
    return sql`select pg_catalog.concat('[', coalesce(pg_catalog.string_agg(${json}, ','), ''), ']')${newLine}from (${rows}) as ${trusted(this.#alias)}`;
  }

  #member(value: GroupValue): JsonText {
    switch (value.kind) {
      case 'type name':
        return typeNameJson(value.name);
      case 'key':
        return this.#key(value.members);
      case 'count':
        return [this.#output({ kind: 'count' })];
      case 'function':
        return jsonObject(value.members.map((member) => ({ key: this.#context.key(member), value: this.#column(member.value) })));
    }
  }

  #key(members: readonly Member<GroupKeyValue>[]): JsonText {
    return jsonObject(members.map((member) => ({ key: this.#context.key(member), value: this.#keyMember(member.value) })));
  }

  #keyMember(value: GroupKeyValue): JsonText {
    switch (value.kind) {
      case 'type name':
        return typeNameJson(value.name);
      case 'not grouped':
        return ['null'];
      case 'related':
        return this.#key(value.members);
      case 'grouped':
        return groupKeyJson(this.#groups.by[value.number]!, sql`${trusted(this.#alias)}.${keyName(value.number)}`);
    }
  }

  #column(value: AggregateColumnValue): JsonText {
    if (value.kind === 'type name') return typeNameJson(value.name);
    return [aggregateJson(value, this.#output({ ...value, kind: 'function' }))];
  }

  /** The value of an aggregate, which the subselect returns. */
  #output(of: GroupAggregate): Sql {
    const known = this.#values.findIndex((each) => isSame(each.of, of));
    const index = known >= 0 ? known : this.#values.push({ of, call: this.#call(of) }) - 1;
    return sql`${trusted(this.#alias)}.${valueName(index)}`;
  }

  #call(of: GroupAggregate): Sql {
    return of.kind === 'count' ? sql`pg_catalog.count(*)` : aggregateCall(of, this.#rows.scope.column(of.column.name));
  }

  #condition(condition: GroupCondition): Sql {
    switch (condition.kind) {
      case 'and':
      case 'or':
        return sql`(${join(
          condition.conditions.map((each) => this.#condition(each)),
          ` ${condition.kind} `,
        )})`;
      case 'not':
        return sql`not (${this.#condition(condition.condition)})`;
      case 'null test':
        return sql`${this.#compared(condition.of)} ${trusted(condition.isNull ? 'is null' : 'is not null')}`;
      case 'comparison':
        return comparisonOf(this.#compared(condition.of), condition.operator, condition.parameter, condition.type);
    }
  }

  /** An aggregate on the left of a comparison. A sum of money is compared as a number, because the request gives a number. */
  #compared(of: GroupAggregate): Sql {
    const call = this.#call(of);
    const isCast = of.kind === 'function' && of.name === 'sum' && traitsOf(of.column.type).number?.sum.isCast;
    return isCast ? sql`${call}::numeric` : call;
  }

  #orderKey({ of, descending, nullsFirst }: GroupOrderKey): Sql {
    const value = of.kind === 'key' ? integer(of.number + 1) : this.#call(of);
    const nulls = nullsFirst === descending ? nothing : trusted(nullsFirst ? ' nulls first' : ' nulls last');
    return sql`${value}${descending ? sql` desc` : nothing}${nulls}`;
  }
}

function isSame(one: GroupAggregate, other: GroupAggregate): boolean {
  if (one.kind === 'count' || other.kind === 'count') return one.kind === other.kind;
  return one.name === other.name && one.column === other.column && one.fraction === other.fraction;
}

/** The columns that the role may select, which include all that keys and further relations read. Selecting others would be an error. */
function readable({ columns, relations }: Table, alias: Sql): Sql {
  const names = [
    ...columns.filter(({ selectable }) => selectable).map(({ name }) => name),
    ...relations.flatMap(({ columns: pairs }) => pairs.map(({ near }) => near)),
  ];
  return join(
    [...new Set(names)].map((name) => sql`${alias}.${identifier(name)}`),
    ', ',
  );
}

function keyName(index: number): Sql {
  return identifier(`key ${index + 1}`);
}

function valueName(index: number): Sql {
  return identifier(`value ${index + 1}`);
}

/** The related rows of the grouped rows, each joined once. */
class JoinedRows {
  readonly #context: StatementContext;
  readonly #scopes = new Map<string, Scope>();
  readonly #joins: Sql[] = [];
  readonly #near: Scope;

  constructor(near: Scope, context: StatementContext) {
    this.#near = near;
    this.#context = context;
  }

  /** The row at the end of the path; the grouped row itself if the path is empty. */
  scopeOf(path: readonly Relation[]): Scope {
    let scope = this.#near;
    for (const relation of path) scope = this.#join(relation, scope);
    return scope;
  }

  joins(): Sql {
    return join(this.#joins, '');
  }

  #join(relation: Relation, near: Scope): Scope {
    const name = `${near.alias} ${relation.fieldName}`;
    const known = this.#scopes.get(name);
    if (known) return known;
    const scope = directScope(this.#context.aliases.next(), { keepsNotNull: false });
    const alias = trusted(scope.alias);
    const conditions = join(joinConditions(relation, near, scope), ' and ');
    const table = tableSource(relation.target);
    // A key declared by a directive may match several rows.
    const joined = relation.unique
      ? sql`left join ${table} as ${alias} on ${conditions}`
      : sql`left join lateral (select ${readable(relation.target, alias)} from ${table} as ${alias} where ${conditions} limit 1) as ${alias} on true`;
    this.#joins.push(sql`${newLine}${joined}`);
    this.#scopes.set(name, scope);
    return scope;
  }
}
