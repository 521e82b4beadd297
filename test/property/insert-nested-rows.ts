/**
 * Writes rows with what belongs to them: each place of an input is gone through in JavaScript, and each group of rows is written by a plain statement
 * under the role. Everything that cannot be done is a refusal, in whatever words.
 */

import type { GraphQLInputObjectType } from 'graphql';
import type { Model, Relation } from '../../src/model/model.ts';
import type { CaseContext } from './case-context.ts';
import { conflictColumns, conflictTarget } from './evaluate-conflict.ts';
import { literal } from './input-values.ts';
import { type LoadedRow, type LoadedTable, loadedRow, loadWorld, nodeIdOf, readRows, type World } from './loaded-tables.ts';
import { rowJson } from './loaded-values.ts';
import {
  type Assigned,
  amongRows,
  assignedColumns,
  given,
  keyTo,
  listOf,
  memberType,
  nameOf,
  places,
  sqlOf,
  updatedColumn,
  type Value,
} from './nested-inputs.ts';
import { isOutgoing, loadedTarget } from './nested-relations.ts';
import { RefusalError } from './property-failure.ts';
import { quoteIdentifier } from './schema-sql.ts';

interface Entry {
  readonly object: Value;
  /** What the row above gives. */
  readonly given: Assigned;
}

export class NestedInserter {
  readonly context: CaseContext;
  readonly model: Model;

  constructor(context: CaseContext, model: Model) {
    this.context = context;
    this.model = model;
  }

  /** The tables as they are now. */
  world(): Promise<World> {
    return loadWorld(this.context, this.model);
  }

  /** Writes the rows of one place, with all that they hold. */
  async insertPlace(table: LoadedTable, type: GraphQLInputObjectType, entries: readonly Entry[]): Promise<LoadedRow[]> {
    if (entries.length === 0) return [];
    const assigned = entries.map(({ object, given }) => assignedColumns(table, type, object, given));
    for (const { relation, type: inner } of places(table, type).filter((place) => isOutgoing(table, place.relation))) {
      await this.fill(
        table,
        relation,
        inner,
        entries.map(({ object }) => object[relation.fieldName]),
        assigned,
      );
    }
    const rows = await this.write(table, assigned);
    for (const { relation, type: inner } of places(table, type).filter((place) => !isOutgoing(table, place.relation))) {
      const parents = rows.map((row, index) => ({ row, value: (entries[index]!.object[relation.fieldName] ?? null) as Value | null }));
      const isOne = relation.kind === 'to-one';
      for (const { value } of parents) if (isOne && value && given(value).length !== 1) throw new RefusalError('not one member');
      await this.attach(table, relation, inner, parents);
    }
    return rows;
  }

  /** Creates and finds what rows refer to, and assigns its key. */
  async fill(
    table: LoadedTable,
    relation: Relation,
    type: GraphQLInputObjectType,
    values: readonly unknown[],
    assigned: readonly Assigned[],
  ): Promise<void> {
    const target = loadedTarget(table.world, relation);
    const members = values.map((value) => (value ?? null) as Value | null);
    for (const value of members) if (value && given(value).length !== 1) throw new RefusalError('not one member');
    const found = new Map<number, LoadedRow>();
    const creates = members.flatMap((value, index) => (value?.create ? [{ index, object: value.create as Value }] : []));
    const created = await this.insertPlace(
      target,
      memberType(type, 'create'),
      creates.map(({ object }) => ({ object, given: new Map() })),
    );
    for (const [at, { index }] of creates.entries()) found.set(index, created[at]!);
    for (const [index, value] of members.entries()) if (value?.connect) found.set(index, await this.find(target, value.connect as Value));
    for (const [index, value] of members.entries())
      if (value?.connectOrCreate) found.set(index, await this.upsert(target, type, value.connectOrCreate as Value, new Map()));
    for (const [index, row] of found)
      for (const pair of relation.columns) this.assign(table, assigned[index]!, pair.near, sqlOf(row, pair.target));
  }

  assign(table: LoadedTable, assigned: Assigned, column: string, sql: string): void {
    const known = assigned.get(column);
    if (known !== undefined && known !== sql) throw new RefusalError(`${table.description.name}.${column} is filled twice`);
    assigned.set(column, sql);
  }

  /** One statement for neighbours of the same columns. */
  async write(table: LoadedTable, assigned: readonly Assigned[]): Promise<LoadedRow[]> {
    const rows: LoadedRow[] = [];
    for (const indexes of neighbours(assigned)) {
      const columns = [...assigned[indexes[0]!]!.keys()];
      const values = indexes.map((index) => `(${columns.map((column) => assigned[index]!.get(column)).join(', ')})`);
      const statement =
        columns.length > 0
          ? `insert into ${nameOf(table)} (${columns.map((column) => quoteIdentifier(column)).join(', ')}) values ${values.join(', ')}`
          : `insert into ${nameOf(table)} default values`;
      const written = columns.length > 0 ? await this.run(table, statement) : await this.repeat(table, statement, indexes.length);
      if (written.length !== indexes.length) throw new RefusalError('rows are left out');
      for (const [at, index] of indexes.entries()) rows[index] = written[at]!;
    }
    return rows;
  }

  async repeat(table: LoadedTable, statement: string, times: number): Promise<LoadedRow[]> {
    const rows: LoadedRow[] = [];
    for (let time = 0; time < times; time += 1) rows.push(...(await this.run(table, statement)));
    return rows;
  }

  /** Runs a statement on a table and returns its rows. */
  async run(table: LoadedTable, statement: string): Promise<LoadedRow[]> {
    try {
      const values = await readRows(this.context, `${statement} returning ${rowJson(table.readable)}::text`);
      return values.map((each) => loadedRow(table, each));
    } catch (error) {
      throw new RefusalError((error as Error).message);
    }
  }

  /** The row of a key, which has to be there. */
  async find(table: LoadedTable, key: Value): Promise<LoadedRow> {
    const { wanted, nodeId } = this.readKey(table, key);
    const conditions = wanted.map(({ name, sql }) => `${quoteIdentifier(name)} = ${sql}`);
    const rows = await this.select(table, conditions.length > 0 ? conditions.join(' and ') : 'true');
    const matching = rows.filter((row) => nodeId === undefined || nodeIdOf(row) === nodeId);
    if (matching.length !== 1) throw new RefusalError(`${matching.length} rows to connect`);
    return matching[0]!;
  }

  /** The columns of a key, which has to be a whole one, and its nodeId. */
  readKey(table: LoadedTable, key: Value) {
    const { nodeId, ...columns } = key;
    const columnOf = (field: string) => table.names.columns.find(({ filterName }) => filterName === field);
    const isNodeId = nodeId !== undefined && !columnOf('nodeId');
    const wanted = Object.entries(isNodeId ? columns : key).map(([field, value]) => {
      const { name, fieldName } = columnOf(field)!;
      return { name, value, sql: literal(table, fieldName, value) };
    });
    const { primaryKey, uniqueKeys } = table.description;
    const isWhole = (names: readonly string[]) =>
      names.length > 0 && names.every((column) => wanted.some(({ name, value }) => name === column && value !== null));
    if (!isNodeId && ![primaryKey, ...uniqueKeys].some(isWhole)) throw new RefusalError('no whole key');
    return { wanted, nodeId: isNodeId ? nodeId : undefined };
  }

  async select(table: LoadedTable, condition: string, locking = ''): Promise<LoadedRow[]> {
    try {
      const values = await readRows(
        this.context,
        `select ${rowJson(table.readable)}::text from ${nameOf(table)} where ${condition} ${locking}`,
      );
      return values.map((each) => loadedRow(table, each));
    } catch (error) {
      throw new RefusalError((error as Error).message);
    }
  }

  /** What a row that may be there already is given, which has all columns of the key that settles it. */
  async conflictKey(table: LoadedTable, type: GraphQLInputObjectType, { create, onConflict }: Value, fromAbove: Assigned) {
    const inner = memberType(memberType(type, 'connectOrCreate'), 'create');
    const assigned = assignedColumns(table, inner, create as Value, fromAbove);
    const { constraint } = onConflict as { constraint: string };
    const conflict = await conflictColumns(this.context, table, constraint);
    if (conflict.some((column) => (assigned.get(column) ?? 'null').startsWith('null'))) throw new RefusalError('not the whole key');
    return { assigned, conflict };
  }

  /** Inserts a row, updates the one that is there, or finds it. */
  async upsert(table: LoadedTable, type: GraphQLInputObjectType, value: Value, fromAbove: Assigned): Promise<LoadedRow> {
    const { assigned, conflict } = await this.conflictKey(table, type, value, fromAbove);
    const { constraint, updateColumns = [] } = value.onConflict as { constraint: string; updateColumns?: readonly string[] };
    const columns = assigned.size > 0 ? [...assigned.keys()] : [table.names.columns.find(({ insertable }) => insertable)!.name];
    const values = columns.map((column) => assigned.get(column) ?? 'default');
    const named = [...new Set(updateColumns)].map((value) => quoteIdentifier(updatedColumn(table, value)));
    const action = named.length === 0 ? 'nothing' : `update set ${named.map((name) => `${name} = excluded.${name}`).join(', ')}`;
    const target = await conflictTarget(this.context, table, constraint);
    const [row] = await this.run(
      table,
      `insert into ${nameOf(table)} (${columns.map((column) => quoteIdentifier(column)).join(', ')}) values (${values.join(', ')}) on conflict ${target} do ${action}`,
    );
    if (row) return row;
    const conditions = conflict.map((column) => `${quoteIdentifier(column)} = ${assigned.get(column)}`);
    const there = await this.select(table, conditions.join(' and '));
    if (there.length !== 1) throw new RefusalError('the row of the conflict is not seen');
    return there[0]!;
  }

  /** What insert objects do with rows that point to theirs. */
  async attach(
    table: LoadedTable,
    relation: Relation,
    type: GraphQLInputObjectType,
    parents: readonly { readonly row: LoadedRow; readonly value: Value | null }[],
  ): Promise<void> {
    const target = loadedTarget(table.world, relation);
    const each = (member: string) =>
      parents.flatMap(({ row, value }) =>
        listOf(value?.[member]).map((object) => ({ object: object as Value, given: keyTo(relation, row) })),
      );
    for (const { object, given: key } of each('connect')) await this.point(target, await this.find(target, object), key);
    for (const { object, given: key } of each('connectOrCreate')) {
      const row = await this.upsert(target, type, object, key);
      if (relation.columns.some(({ target: column }) => sqlOf(row, column) !== key.get(column))) await this.point(target, row, key);
    }
    await this.insertPlace(target, memberType(type, 'create'), each('create'));
  }

  /** Sets the key of a row, which has to be one that the role may update. */
  async point(table: LoadedTable, row: LoadedRow, key: Assigned): Promise<void> {
    const rows = await this.change(table, [row], key);
    if (rows.length !== 1) throw new RefusalError('a row that cannot be updated');
  }

  async change(table: LoadedTable, rows: readonly LoadedRow[], assigned: Assigned): Promise<LoadedRow[]> {
    if (rows.length === 0) return [];
    const assignments = [...assigned].map(([column, sql]) => `${quoteIdentifier(column)} = ${sql}`);
    return this.run(table, `update ${nameOf(table)} set ${assignments.join(', ')} where ${amongRows(rows)}`);
  }
}

/** The numbers of the rows, those of the same columns together where nothing is between them. */
function neighbours(assigned: readonly Assigned[]): number[][] {
  const signatures = assigned.map((each) => [...each.keys()].sort().join());
  const groups: number[][] = [];
  for (const [index, signature] of signatures.entries()) {
    if (index > 0 && signatures[index - 1] === signature) groups.at(-1)!.push(index);
    else groups.push([index]);
  }
  return groups;
}
