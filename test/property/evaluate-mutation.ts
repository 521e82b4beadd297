/**
 * What a mutation has to do and answer: each field is run as one hand-written statement under the role, in a transaction that is rolled
 * back. Relations inside records, and queries, show the tables as they are after the statement.
 */

import { BREAK, type GraphQLInputObjectType, type GraphQLResolveInfo, getNamedType, visit } from 'graphql';
import type { Model } from '../../src/model/model.ts';
import { asRole, type CaseContext, readValue } from './case-context.ts';
import { byLegalName, conflictTarget } from './evaluate-conflict.ts';
import { filterRows } from './evaluate-filter.ts';
import { NestedEvaluator } from './evaluate-nested.ts';
import { type Evaluation, type Expectation, ExpectedError, evaluateOperation, type MutationResult } from './evaluate-operation.ts';
import { additions, changedParts, columnName, columnValues, incremented, partAssignments } from './input-values.ts';
import {
  keyOf,
  type LoadedRow,
  type LoadedTable,
  loadedRow,
  loadWorld,
  readRows,
  rowsOf,
  tableByType,
  valueOf,
  type World,
} from './loaded-tables.ts';
import { rowJson } from './loaded-values.ts';
import { columnMembers, holdsRelatedRows } from './nested-inputs.ts';
import { RefusalError } from './property-failure.ts';
import type { SchemaDescription } from './schema-description.ts';
import { quoteIdentifier, quoteLiteral } from './schema-sql.ts';
import type { ValueOracle } from './value-oracle.ts';
import { WriterCall } from './writer-call.ts';

type Arguments = Readonly<Record<string, unknown>>;

export interface MutationExpectation {
  readonly answer: Expectation;
  /** All rows of all tables afterwards. */
  readonly state: string;
}

/** Runs the mutation by hand, and takes it back. */
export async function evaluateMutation(
  context: CaseContext,
  model: Model,
  evaluation: Omit<Evaluation, 'world' | 'mutate'>,
): Promise<MutationExpectation> {
  const before = await readState(context);
  const restoreSequences = await rememberSequences(context);
  let failed: Error | null = null;
  const result = await asRole(context, model.role, async () => {
    const answer = await evaluateOperation({
      ...evaluation,
      world: null,
      mutate: async (args, info) => {
        // What failed undoes everything, and nothing after it runs.
        if (failed) throw failed;
        try {
          return await new FieldEvaluator(context, model, evaluation.oracle).run(args, info);
        } catch (error) {
          failed = error as Error;
          throw error;
        }
      },
    });
    if (answer.kind === 'error') return { answer, state: before };
    await context.database.run('reset role');
    return { answer, state: await readState(context) };
  });
  await restoreSequences();
  return result;
}

/** All rows of all tables as text, in an order of its own. */
export async function readState({ database, schema }: CaseContext): Promise<string> {
  const tables = schema.tables.filter(({ view }) => view === null);
  const parts = tables.map(({ name }) => `(select json_agg(t::text order by t::text) from ${quoteIdentifier(schema.name, name)} as t)`);
  return (await readValue(database, `select json_build_array(${parts.join(', ')})::text`)) ?? '';
}

/** A rollback leaves sequences where they are. */
async function rememberSequences({ database, schema }: CaseContext): Promise<() => Promise<void>> {
  const sequences = sequencesOf(schema);
  const settings: string[] = [];
  for (const sequence of sequences) {
    const name = await readValue(database, `select ${sequence}::regclass::text`);
    const value = await readValue(database, `select last_value || ', ' || is_called from ${name}`);
    settings.push(`select setval(${sequence}, ${value})`);
  }
  return async () => {
    if (settings.length > 0) await database.run(settings.join('; '));
  };
}

function sequencesOf(schema: SchemaDescription): string[] {
  return schema.tables
    .filter(({ view }) => view === null)
    .flatMap((table) =>
      table.columns
        .filter(({ identity }) => identity)
        .map(({ name }) => `pg_get_serial_sequence(${quoteLiteral(quoteIdentifier(schema.name, table.name))}, ${quoteLiteral(name)})`),
    );
}

class FieldEvaluator {
  readonly #context: CaseContext;
  readonly #model: Model;
  readonly #oracle: ValueOracle;

  constructor(context: CaseContext, model: Model, oracle: ValueOracle) {
    this.#context = context;
    this.#model = model;
    this.#oracle = oracle;
  }

  async run(args: Arguments, info: GraphQLResolveInfo): Promise<unknown> {
    const world = await loadWorld(this.#context, this.#model);
    const writer = world.writers.get(info.fieldName);
    if (writer) return new WriterCall(this.#context, this.#model, this.#oracle, world).run(writer, args, inputTypeOf(info, 'filter'));
    return this.#write(world, args, info);
  }

  async #write(world: World, args: Arguments, info: GraphQLResolveInfo): Promise<MutationResult> {
    const typeName = getNamedType(info.returnType).name;
    const table = tableByType(world, typeName);
    const nested = await this.#nested(table, args, info);
    if (nested) return nested;
    const statement = args.objects ? await this.#insert(table, args, info) : await this.#change(table, args, info);
    const selectsRecords = selects(info, 'records');
    const returned = selectsRecords ? `${rowJson(table.readable)}::text` : `'[]'`;
    const countPassing = async (): Promise<number> =>
      ((await filterRows(table, inputTypeOf(info, 'filter'), args.filter, this.#oracle)) ?? rowsOf(table)).length;
    const rows = await this.#execute(`${statement} returning ${returned}`, args, countPassing);
    if (!args.objects && rows.length > Number(args.atMost)) throw tooManyRows(args);
    const after = await this.#worldAfter(info);
    if (after && !args.objects && !args.set) after.before = world;
    const records = after && selectsRecords ? rows.map((values) => loadedRow(tableByType(after, typeName), values)) : [];
    return { kind: 'mutation', count: rows.length, records, after };
  }

  /** The tables after the field, if it reads any. */
  async #worldAfter(info: GraphQLResolveInfo): Promise<World | null> {
    return selects(info, 'records') || selects(info, 'query') ? loadWorld(this.#context, this.#model) : null;
  }

  /** An insert or update that holds related rows; null for others. */
  async #nested(table: LoadedTable, args: Arguments, info: GraphQLResolveInfo): Promise<MutationResult | null> {
    if (!holdsNested(args, info)) return null;
    const evaluator = new NestedEvaluator(this.#context, this.#model, this.#oracle);
    const type = inputTypeOf(info, args.objects ? 'objects' : 'set');
    if (args.objects) {
      const written = await evaluator.insert(table, type, args.objects as readonly Arguments[]);
      return { kind: 'mutation', ...written, after: await this.#worldAfter(info) };
    }
    const passing = (await filterRows(table, inputTypeOf(info, 'filter'), args.filter, this.#oracle)) ?? rowsOf(table);
    const written = await evaluator.update(table, type, args, passing);
    return { kind: 'mutation', ...written, after: await this.#worldAfter(info) };
  }

  /** `countPassing`: how many rows pass the filter of an update or delete. */
  async #execute(statement: string, args: Arguments, countPassing: () => Promise<number>): ReturnType<typeof readRows> {
    try {
      await this.#context.database.run('savepoint field');
      return await readRows(this.#context, statement);
    } catch (error) {
      await this.#context.database.run('rollback to savepoint field');
      // Foreign keys are checked when all rows are written, and so after their number.
      if (!args.objects && (await this.#failsFirst(statement, Number(args.atMost)))) throw tooManyRows(args);
      // Rows are counted as they are written, so the first row too many and a row that fails may come in either order.
      if (!args.objects && (await countPassing()) > Number(args.atMost)) throw new RefusalError((error as Error).message);
      // An array without a key fails in other words here.
      if ((error as Error).message.startsWith('path element at position')) throw new RefusalError((error as Error).message);
      throw new ExpectedError((error as Error).message);
    }
  }

  /** Whether a failing statement would get as far as to count too many rows. */
  async #failsFirst(statement: string, atMost: number): Promise<boolean> {
    try {
      const counted = `select 1 / (case when count(*) > ${atMost} then 0 else 1 end) from changed`;
      await this.#context.database.run(`savepoint field; with changed as (${statement}) ${counted}`);
      return false;
    } catch (error) {
      await this.#context.database.run('rollback to savepoint field');
      return (error as Error).message === 'division by zero';
    }
  }

  async #insert(table: LoadedTable, args: Arguments, info: GraphQLResolveInfo): Promise<string> {
    const objects = args.objects as readonly Arguments[];
    const values = objects.map((object) => columnValues(table, columnMembers(inputTypeOf(info, 'objects'), object)));
    const named = [...new Set(values.flatMap((row) => [...row.keys()]))];
    // Rows of defaults only still need a column to name.
    const columns =
      named.length > 0
        ? named
        : table.names.columns
            .filter(({ insertable }) => insertable)
            .map(({ name }) => name)
            .slice(0, 1);
    const target = this.#name(table);
    const rows = values.map((row) => `(${columns.map((column) => row.get(column) ?? 'default').join(', ')})`);
    const names = columns.map((column) => quoteIdentifier(column)).join(', ');
    const conflict = args.onConflict ? await this.#conflict(table, args.onConflict as Arguments, info) : '';
    return `insert into ${target} as target (${names}) values ${rows.join(', ')}${conflict}`;
  }

  async #conflict(table: LoadedTable, conflict: Arguments, info: GraphQLResolveInfo): Promise<string> {
    const usable = table.names.columns.filter(({ selectable, insertable, updatable }) => selectable && insertable && updatable);
    const values = [...new Set((conflict.updateColumns ?? []) as readonly string[])];
    const columns = values.map((value) => byLegalName(usable, ({ fieldName }) => fieldName, value));
    const added = incremented(conflict.increment);
    if (added.some(([field]) => columns.some(({ fieldName }) => fieldName === field))) throw new RefusalError('A field is updated twice.');
    const type = inputTypeOf(info, 'onConflict').getFields().filter;
    const filterType = type && (getNamedType(type.type) as GraphQLInputObjectType);
    const condition = filterType ? (await this.#rowsThatPass(table, filterType, conflict.filter)).condition : '';
    const assignments = [
      ...columns.map(({ name }) => `${quoteIdentifier(name)} = excluded.${quoteIdentifier(name)}`),
      ...additions(table, added, 'target.'),
    ];
    const action = assignments.length === 0 ? 'nothing' : `update set ${assignments.join(', ')}${condition}`;
    return ` on conflict ${await conflictTarget(this.#context, table, conflict.constraint as string)} do ${action}`;
  }

  async #change(table: LoadedTable, args: Arguments, info: GraphQLResolveInfo): Promise<string> {
    const { condition, passing } = await this.#rowsThatPass(table, inputTypeOf(info, 'filter'), args.filter);
    if (!args.set) return `delete from ${this.#name(table)} as target${condition}`;
    const set = columnMembers(inputTypeOf(info, 'set'), args.set as Arguments);
    const fields = Object.keys(set);
    // Variables that are absent may leave nothing of the object.
    const added = incremented(args.increment);
    const changed = changedParts(table, args.json);
    if (fields.length + added.length + changed.length === 0) throw new RefusalError('There is nothing to update.');
    const values = columnValues(table, set);
    if ([...added.map(([field]) => columnName(table, field)), ...changed.map(({ column }) => column)].some((column) => values.has(column)))
      throw new RefusalError('A field is set and changed.');
    const assignments = [...values].map(([column, sql]) => `${quoteIdentifier(column)} = ${sql}`);
    const parts = partAssignments(changed, passing, isRow);
    return `update ${this.#name(table)} as target set ${[...assignments, ...additions(table, added, ''), ...parts].join(', ')}${condition}`;
  }

  /** The rows that pass the filter, and the condition that a row is one of them, by its key. */
  async #rowsThatPass(
    table: LoadedTable,
    type: GraphQLInputObjectType,
    filter: unknown,
  ): Promise<{ readonly condition: string; readonly passing: readonly LoadedRow[] }> {
    const passing = await filterRows(table, type, filter, this.#oracle);
    if (!passing) return { condition: '', passing: rowsOf(table) };
    // The columns of the filter are read, so that the policies for reading apply.
    const first = `target.${quoteIdentifier(keyOf(table)[0]!.name)}`;
    const condition = passing.length > 0 ? passing.map(isRow).join(' or ') : `${first} is null and ${first} is not null`;
    return { condition: ` where ${condition}`, passing };
  }

  #name({ schemaName, description }: LoadedTable): string {
    return quoteIdentifier(schemaName, description.name);
  }
}

/** The condition that a row is the one that is written. */
function isRow(row: LoadedRow): string {
  const conditions = keyOf(row.table).map(
    ({ name, type: { sql } }) => `target.${quoteIdentifier(name)} = ${quoteLiteral(valueOf(row, name).text)}::${sql}`,
  );
  return `(${conditions.join(' and ')})`;
}

/** Whether the objects that are given hold related rows. */
function holdsNested({ objects, set }: Arguments, info: GraphQLResolveInfo): boolean {
  if (!objects && !set) return false;
  return holdsRelatedRows(inputTypeOf(info, objects ? 'objects' : 'set'), (objects ?? [set]) as readonly Arguments[]);
}

function tooManyRows(args: Arguments): ExpectedError {
  return new ExpectedError(`${args.set ? 'update' : 'delete'} impacts too many records`);
}

/** The type of what an argument has; of no argument, of nothing. */
function inputTypeOf({ parentType, fieldName }: GraphQLResolveInfo, argument: string): GraphQLInputObjectType {
  const type = parentType.getFields()[fieldName]!.args.find(({ name }) => name === argument)?.type;
  return getNamedType(type) as GraphQLInputObjectType;
}

/** Whether the response has the records, each selection of which reads a column, or the query. */
function selects(info: GraphQLResolveInfo, member: 'records' | 'query'): boolean {
  let found = false;
  for (const node of info.fieldNodes) {
    visit(node, {
      Field: (field) => {
        if (field.name.value !== member) return undefined;
        found = true;
        return BREAK;
      },
    });
  }
  return found;
}
