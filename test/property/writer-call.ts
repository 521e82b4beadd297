/** Functions that are fields of Mutation: each is called by a plain select under the role, and the rows that it returns are those of the tables afterwards. */
import type { GraphQLInputObjectType } from 'graphql';
import type { Model } from '../../src/model/model.ts';
import type { CaseContext } from './case-context.ts';
import { baseOf } from './column-types.ts';
import { inputText } from './compare-values.ts';
import { evaluateCollection } from './evaluate-collection.ts';
import { asSource, ExpectedError } from './evaluate-operation.ts';
import { callRoutine, withoutModifier } from './loaded-routines.ts';
import { type LoadedRoutine, type LoadedRow, loadWorld, readRows, rowsOf, valueOf, type World } from './loaded-tables.ts';
import { rowJson } from './loaded-values.ts';
import { RefusalError } from './property-failure.ts';
import { columnOf, keyColumns } from './schema-description.ts';
import { quoteIdentifier, quoteLiteral } from './schema-sql.ts';
import type { ValueOracle } from './value-oracle.ts';

type Arguments = Readonly<Record<string, unknown>>;

export class WriterCall {
  readonly #context: CaseContext;
  readonly #model: Model;
  readonly #oracle: ValueOracle;
  readonly #world: World;

  constructor(context: CaseContext, model: Model, oracle: ValueOracle, world: World) {
    this.#context = context;
    this.#model = model;
    this.#oracle = oracle;
    this.#world = world;
  }

  /** The answer of the field; `filterType` is of the argument of a collection. */
  async run(writer: LoadedRoutine, args: Arguments, filterType: GraphQLInputObjectType): Promise<unknown> {
    const { body } = writer.description;
    if (body.kind !== 'set column' && body.kind !== 'all rows') return callRoutine(this.#world, writer, args, this.#oracle, null);
    const call = this.#callSql(writer, args);
    if (body.kind === 'set column' && body.returns === 'count') {
      const [row] = await this.#read(`select json_build_array(json_build_array(${call}::text))::text`);
      return Number(row?.[0]?.[0]);
    }
    const key = keyColumns(body.table).map((name) => columnOf(body.table, name));
    const query = `select ${rowJson(key)}::text from ${call} as called where called is distinct from null`;
    const returned = new Set((await this.#read(query)).map((values) => JSON.stringify(values.map(([text]) => text))));
    const isReturned = (row: LoadedRow) => returned.has(JSON.stringify(key.map(({ name }) => valueOf(row, name).text)));
    const after = await loadWorld(this.#context, this.#model);
    const table = after.tables.find(({ description }) => description === body.table);
    if (!table) throw new RefusalError(body.table.name);
    if (body.kind === 'set column' && body.returns === 'row') return asSource(rowsOf(table).find(isReturned));
    const collection = await evaluateCollection(table, args, filterType, this.#oracle, isReturned);
    return { kind: 'connection', ...collection, isWhole: false };
  }

  #callSql({ description }: LoadedRoutine, args: Arguments): string {
    const values = description.arguments.map(({ name, type }) => {
      if (args[name] === null) throw new RefusalError('a required argument');
      return `${quoteLiteral(inputText(this.#world, type, args[name]))}::${withoutModifier(baseOf(type).sql)}`;
    });
    return `${quoteIdentifier(this.#context.schema.name, description.name)}(${values.join(', ')})`;
  }

  async #read(query: string): ReturnType<typeof readRows> {
    try {
      return await readRows(this.#context, query);
    } catch (error) {
      const { message } = error as Error;
      throw message.includes('permission denied') ? new RefusalError(message) : new ExpectedError(message);
    }
  }
}
