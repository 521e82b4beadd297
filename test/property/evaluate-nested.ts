/** What an insert or update with related rows in it has to do: rows that are there are updated, moved, set free and deleted here. */

import type { GraphQLInputObjectType } from 'graphql';
import type { Model, Relation } from '../../src/model/model.ts';
import type { CaseContext } from './case-context.ts';
import { filterRows } from './evaluate-filter.ts';
import { additions, changedParts, columnName, incremented, partAssignments } from './input-values.ts';
import { NestedInserter } from './insert-nested-rows.ts';
import { type LoadedRow, type LoadedTable, rowsOf } from './loaded-tables.ts';
import {
  type Assigned,
  again,
  amongRows,
  assignedColumns,
  given,
  identity,
  keyTo,
  listOf,
  memberType,
  nameOf,
  places,
  type Value,
} from './nested-inputs.ts';
import { isOutgoing, loadedTarget, mayWriteKey } from './nested-relations.ts';
import { RefusalError } from './property-failure.ts';
import { quoteIdentifier } from './schema-sql.ts';
import { areTied } from './tied-rows.ts';
import type { ValueOracle } from './value-oracle.ts';

export interface Written {
  readonly count: number;
  readonly records: readonly LoadedRow[];
}

export class NestedEvaluator extends NestedInserter {
  readonly #oracle: ValueOracle;

  constructor(context: CaseContext, model: Model, oracle: ValueOracle) {
    super(context, model);
    this.#oracle = oracle;
  }

  /** The rows of an insert, as they are in the end. */
  async insert(table: LoadedTable, type: GraphQLInputObjectType, objects: readonly Value[]): Promise<Written> {
    const rows = await this.insertPlace(
      table,
      type,
      objects.map((object) => ({ object, given: new Map() })),
    );
    return { count: rows.length, records: await this.#asTheyAre(rows) };
  }

  /** The rows of an update, as they are in the end. */
  async update(table: LoadedTable, type: GraphQLInputObjectType, args: Value, passing: readonly LoadedRow[]): Promise<Written> {
    const rows = await this.#update(table, type, args, passing);
    return { count: rows.length, records: await this.#asTheyAre(rows) };
  }

  async #asTheyAre(rows: readonly LoadedRow[]): Promise<LoadedRow[]> {
    const world = await this.world();
    return rows.flatMap((row) => again(world, row) ?? []);
  }

  /** Updates rows, with all that the object holds. */
  async #update(table: LoadedTable, type: GraphQLInputObjectType, args: Value, passing: readonly LoadedRow[]): Promise<LoadedRow[]> {
    const set = args.set as Value;
    const added = incremented(args.increment);
    const assigned = assignedColumns(table, type, set, new Map());
    const outgoing = places(table, type).filter(({ relation }) => isOutgoing(table, relation) && set[relation.fieldName]);
    if (passing.length === 0) return this.#connectNone(table, type, set);
    const atMost = args.atMost === undefined ? Number.POSITIVE_INFINITY : Number(args.atMost);
    const reached = await this.select(table, amongRows(passing), 'for update');
    if (reached.length > atMost) throw new RefusalError('too many rows');
    if (reached.length === 0) return this.#connectNone(table, type, set);
    for (const { relation, type: inner } of outgoing) await this.#refer(table, relation, inner, set[relation.fieldName] as Value, assigned);
    const changed = changedParts(table, args.json);
    const others = [...added.map(([field]) => columnName(table, field)), ...changed.map(({ column }) => column)];
    if (others.some((column) => assigned.has(column))) throw new RefusalError('set and changed');
    const changes = [...additions(table, added, ''), ...partAssignments(changed, reached, (row) => amongRows([row]))];
    const assignments = [...[...assigned].map(([column, sql]) => `${quoteIdentifier(column)} = ${sql}`), ...changes];
    const rows =
      assignments.length > 0
        ? await this.run(table, `update ${nameOf(table)} set ${assignments.join(', ')} where ${amongRows(reached)}`)
        : reached;
    for (const { relation, type: inner } of outgoing)
      await this.#changeReferred(table, relation, inner, set[relation.fieldName] as Value, reached);
    for (const { relation, type: inner } of places(table, type).filter(
      ({ relation }) => !isOutgoing(table, relation) && set[relation.fieldName],
    ))
      await this.#changeReferring(table, relation, inner, set[relation.fieldName] as Value, rows);
    return rows;
  }

  /** Where no row is updated, nothing is created and nothing looked for, but what is to be connected has to be named by a whole key. */
  async #connectNone(table: LoadedTable, type: GraphQLInputObjectType, set: Value): Promise<LoadedRow[]> {
    await this.#readKeys(table, type, set);
    return [];
  }

  /** Of all that is to be connected or created, at any depth. */
  async #readKeys(table: LoadedTable, type: GraphQLInputObjectType, object: Value): Promise<void> {
    for (const { relation, type: inner } of places(table, type)) {
      const value = (object[relation.fieldName] ?? {}) as Value;
      const target = loadedTarget(table.world, relation);
      for (const key of [...listOf(value.connect), ...listOf(value.set)]) this.readKey(target, key as Value);
      const filled = isOutgoing(table, relation) ? [] : relation.columns.map((pair): [string, string] => [pair.target, 'filled']);
      for (const upserted of listOf(value.connectOrCreate)) await this.conflictKey(target, inner, upserted as Value, new Map(filled));
      for (const created of listOf(value.create)) await this.#readKeys(target, memberType(inner, 'create'), created as Value);
    }
  }

  /** The key that all updated rows get; none where they keep theirs. */
  async #refer(table: LoadedTable, relation: Relation, type: GraphQLInputObjectType, value: Value, assigned: Assigned): Promise<void> {
    const members = given(value);
    if (isFalse(value)) return;
    if (members.length !== 1) throw new RefusalError('not one member');
    const [member] = members;
    if (member === 'disconnect' || member === 'delete') for (const { near } of relation.columns) this.assign(table, assigned, near, 'null');
    else if (member !== 'update') await this.fill(table, relation, type, [value], [assigned]);
  }

  /** Updates or deletes what the rows referred to. */
  async #changeReferred(
    table: LoadedTable,
    relation: Relation,
    type: GraphQLInputObjectType,
    value: Value,
    before: readonly LoadedRow[],
  ): Promise<void> {
    const [member] = given(value);
    if (member !== 'update' && member !== 'delete') return;
    const target = loadedTarget(table.world, relation);
    const related = await this.#related(relation, before);
    if (member === 'delete') await this.#delete(target, related);
    else await this.#updateSome(target, memberType(type, 'update'), value.update as Value, related);
  }

  async #delete(table: LoadedTable, rows: readonly LoadedRow[]): Promise<LoadedRow[]> {
    return rows.length === 0 ? [] : this.run(table, `delete from ${nameOf(table)} where ${amongRows(rows)}`);
  }

  async #updateSome(table: LoadedTable, type: GraphQLInputObjectType, args: Value, related: readonly LoadedRow[]): Promise<void> {
    const passing = await this.#passing(table, type, args.filter, related);
    await this.#update(table, memberType(type, 'set'), args, passing);
  }

  async #passing(
    table: LoadedTable,
    type: GraphQLInputObjectType,
    filter: unknown,
    rows: readonly LoadedRow[],
  ): Promise<readonly LoadedRow[]> {
    if (filter === undefined || filter === null || rows.length === 0) return rows;
    const now = (await this.world()).tables.find(({ names }) => names === table.names)!;
    const found = await filterRows(now, memberType(type, 'filter'), filter, this.#oracle);
    if (!found) return rows;
    const keys = new Set(found.map(identity));
    return rows.filter((row) => keys.has(identity(row)));
  }

  /** The rows that now belong to some rows by a relation. */
  async #related(relation: Relation, rows: readonly LoadedRow[]): Promise<LoadedRow[]> {
    const world = await this.world();
    return rowsOf(loadedTarget(world, relation)).filter((other) => rows.some((row) => areTied(relation, row, other)));
  }

  /** What update objects do with rows that point to theirs. */
  async #changeReferring(
    table: LoadedTable,
    relation: Relation,
    type: GraphQLInputObjectType,
    value: Value,
    parents: readonly LoadedRow[],
  ): Promise<void> {
    const target = loadedTarget(table.world, relation);
    const isOne = relation.kind === 'to-one';
    const members = given(value);
    if (isOne && isFalse(value)) return;
    if (isOne && members.length !== 1) throw new RefusalError('not one member');
    const free: Assigned = new Map(relation.columns.map(({ target: column }) => [column, 'null']));
    const has = (member: string) => members.includes(member);
    const bounded = async (member: string, change: (rows: readonly LoadedRow[]) => Promise<LoadedRow[]>) => {
      const related = await this.#related(relation, parents);
      const { filter, atMost } = (isOne ? {} : value[member]) as { filter?: unknown; atMost?: number };
      const changed = await change(isOne ? related : await this.#passing(target, memberType(type, member), filter, related));
      if (atMost !== undefined && changed.length > atMost) throw new RefusalError('too many rows');
    };
    if (has('delete')) await bounded('delete', (rows) => this.#delete(target, rows));
    if (has('disconnect')) await bounded('disconnect', (rows) => this.change(target, rows, free));
    if (has('update'))
      for (const args of listOf(value.update))
        await this.#updateSome(target, memberType(type, 'update'), args as Value, await this.#related(relation, parents));
    const moves = ['set', 'connect', 'connectOrCreate'].some((member) => has(member) && listOf(value[member]).length > 0);
    if (moves && parents.length > 1) throw new RefusalError('rows cannot belong to several');
    if (has('set')) await this.#replace(relation, target, free, listOf(value.set) as readonly Value[], parents);
    // In a one-to-one relation, the new row takes the place of the one that is there, if that can be disconnected.
    const isNew = ['connect', 'connectOrCreate', 'create'].some((member) => has(member) && listOf(value[member]).length > 0);
    if (isOne && isNew && mayWriteKey(table, relation, 'disconnect', 'update'))
      await this.change(target, await this.#related(relation, parents), free);
    await this.attach(
      table,
      relation,
      type,
      parents.map((row) => ({
        row,
        value: Object.fromEntries(['connect', 'connectOrCreate', 'create'].filter(has).map((member) => [member, value[member]])),
      })),
    );
  }

  async #replace(
    relation: Relation,
    target: LoadedTable,
    free: Assigned,
    keys: readonly Value[],
    parents: readonly LoadedRow[],
  ): Promise<void> {
    const wanted: LoadedRow[] = [];
    for (const key of keys) wanted.push(await this.find(target, key));
    const names = new Set(wanted.map(identity));
    const related = await this.#related(relation, parents);
    const gone = related.filter((row) => !names.has(identity(row)));
    if ((await this.change(target, gone, free)).length !== gone.length) throw new RefusalError('a row that cannot be disconnected');
    const there = new Set(related.map(identity));
    for (const row of wanted) if (!there.has(identity(row))) await this.point(target, row, keyTo(relation, parents[0]!));
  }
}

/** Whether all that is said is what is not to be done. */
function isFalse(value: Value): boolean {
  const members = Object.values(value).filter((member) => member !== null);
  return members.length > 0 && members.every((member) => member === false);
}
