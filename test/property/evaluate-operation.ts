/**
 * The separate evaluator: graphql-js executes the document over the schema that introspection told, and the resolvers here compute every
 * value from the loaded rows. It shares no code with rowgraph but the names of the model.
 */

import {
  type DocumentNode,
  execute,
  type GraphQLInputObjectType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isLeafType,
} from 'graphql';
import type { AggregateFunction } from '../../src/model/types/postgres-types.ts';
import { jsonbType } from './column-types.ts';
import { evaluateAggregate } from './evaluate-aggregate.ts';
import { type Collection, evaluateCollection } from './evaluate-collection.ts';
import { type CompositeSource, memberField, showJson, showValue } from './evaluate-composites.ts';
import { evaluateGroups, type Group, groupKey } from './evaluate-groups.ts';
import { type Depths, evaluateLineage } from './evaluate-lineage.ts';
import { cursorOf, type Page } from './evaluate-page.ts';
import { snippetOf } from './evaluate-search.ts';
import { callRoutine } from './loaded-routines.ts';
import {
  type LoadedRow,
  type LoadedTable,
  nodeIdOf,
  partOfColumn,
  rowsOf,
  tableByType,
  valueOf,
  valueOfPart,
  type World,
} from './loaded-tables.ts';
import { type Measures, shownMeasure } from './measures.ts';
import { RefusalError } from './property-failure.ts';
import { boundedColumn, boundsOf } from './range-values.ts';
import { columnOf, maySelectAll } from './schema-description.ts';
import { quoteLiteral } from './schema-sql.ts';
import { areTied } from './tied-rows.ts';
import type { ValueOracle } from './value-oracle.ts';

/** What an operation has to answer. */
export type Expectation =
  | { readonly kind: 'data'; readonly data: unknown }
  /** An error in these words; null where any will do. */
  | { readonly kind: 'error'; readonly message: string | null };

/** What an object of the response stands for. */
type Source =
  | RowSource
  | ConnectionSource
  | { readonly kind: 'edge'; readonly row: LoadedRow; readonly page: Page }
  | { readonly kind: 'page info'; readonly page: Page }
  | AggregateSource
  | { readonly kind: 'group'; readonly table: LoadedTable; readonly group: Group }
  /** `table`: null inside a value of a composite type. */
  | {
      readonly kind: 'group key';
      readonly world: World;
      readonly table: LoadedTable | null;
      readonly keys: Group['keys'];
      readonly path: string;
    }
  | CompositeSource
  | { readonly kind: 'query'; readonly world: World }
  | MutationResult;

interface RowSource {
  readonly kind: 'row';
  readonly row: LoadedRow;
  /** Those of the collection that it is in. */
  readonly measures?: Measures;
}

interface ConnectionSource extends Collection {
  readonly kind: 'connection';
}

/** Rows with what is computed of them: all aggregates, or one function, whose arguments are `args`. */
interface AggregateSource {
  readonly kind: 'aggregate' | AggregateFunction;
  readonly table: LoadedTable;
  readonly passing: readonly LoadedRow[];
  readonly args?: Arguments;
}

/** What a mutation wrote. */
export interface MutationResult {
  readonly kind: 'mutation';
  readonly count: number;
  readonly records: readonly LoadedRow[];
  /** The tables after it; null if its response needs none. */
  readonly after: World | null;
}

type Arguments = Readonly<Record<string, unknown>>;
type MutationResolver = (args: Arguments, info: GraphQLResolveInfo) => Promise<unknown>;

export interface Evaluation {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly variables: Arguments;
  readonly oracle: ValueOracle;
  /** What a query reads; null for a mutation, which reads what it finds. */
  readonly world: World | null;
  readonly mutate: MutationResolver | null;
}

/** Computes the response to an operation. */
export async function evaluateOperation({ schema, document, variables, oracle, world, mutate }: Evaluation): Promise<Expectation> {
  const evaluator = new Evaluator(oracle, world, mutate);
  keepLabels(schema);
  const result = await execute({
    schema,
    document,
    variableValues: withoutPrototype(variables) as Arguments,
    // Never throws at once: graphql-js would forget the promises of the items before it in a list, which may reject too.
    fieldResolver: async (source: Source | undefined, args, _context, info) => evaluator.resolve(source, args as Arguments, info),
    typeResolver: (source: Source) => (source.kind === 'row' ? source.row.table.names.typeName : undefined),
  });
  const [first] = result.errors ?? [];
  if (!first) return { kind: 'data', data: result.data };
  const cause = first.originalError;
  // A variable that does not fit its type: graphql-js and rowgraph need not use the same words.
  if (first.path === undefined) return { kind: 'error', message: null };
  if (cause instanceof RefusalError) return { kind: 'error', message: null };
  if (cause instanceof ExpectedError) return { kind: 'error', message: cause.message };
  throw cause ?? first;
}

/** Objects without a prototype: graphql-js takes what a plain one inherits, such as `hasOwnProperty`, for a field that is given. */
function withoutPrototype(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutPrototype);
  if (typeof value !== 'object' || value === null) return value;
  return Object.assign(
    Object.create(null),
    Object.fromEntries(Object.entries(value).map(([name, item]) => [name, withoutPrototype(item)])),
  );
}

/** An error that the operation has to fail with. */
export class ExpectedError extends Error {}

/** Labels that are no GraphQL names, and so not in the schema, are answered as they are. */
function keepLabels(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (isEnumType(type) && !type.name.startsWith('__')) type.coerceOutputValue = (value) => value as string;
  }
}

class Evaluator {
  readonly #oracle: ValueOracle;
  readonly #world: World | null;
  readonly #mutate: MutationResolver | null;

  constructor(oracle: ValueOracle, world: World | null, mutate: MutationResolver | null) {
    this.#oracle = oracle;
    this.#world = world;
    this.#mutate = mutate;
  }

  resolve(source: Source | undefined, args: Arguments, info: GraphQLResolveInfo): unknown {
    if (!source) return this.#mutate ? this.#mutate(args, info) : this.#root(this.#world!, args, info);
    // A value with members, such as a range.
    if (!('kind' in source)) return (source as Arguments)[info.fieldName];
    switch (source.kind) {
      case 'row':
        return this.#rowField(source, args, info);
      case 'connection':
        return this.#connectionField(source, args, info);
      case 'edge':
        return edgeField(source, info.fieldName);
      case 'page info':
        return pageInfoField(source.page, info.fieldName);
      case 'query':
        return this.#root(source.world, args, info);
      case 'mutation':
        if (info.fieldName === 'query') return { kind: 'query', world: source.after! };
        return info.fieldName === 'affectedCount' ? source.count : source.records.map((row) => ({ kind: 'row', row }));
      case 'group': {
        const { table, group } = source;
        if (info.fieldName === 'key') return { kind: 'group key', world: table.world, table, keys: group.keys, path: '' };
        return info.fieldName === 'count' ? group.rows.length : { kind: info.fieldName, table, passing: group.rows, args };
      }
      case 'composite':
        return memberField(source, info.fieldName, args);
      case 'group key':
        return groupKeyField(source, args, info);
      case 'aggregate':
        return info.fieldName === 'count' ? source.passing.length : { ...source, kind: info.fieldName, args };
      default:
        return evaluateAggregate(source.table, source.passing, source.kind, info.fieldName, this.#oracle, source.args?.fraction);
    }
  }

  async #root(world: World, args: Arguments, info: GraphQLResolveInfo): Promise<unknown> {
    const typeName = getNamedType(info.returnType).name;
    if (info.fieldName === 'node' && typeName === 'Node') return asSource(findNode(world, args.nodeId as string));
    const routine = world.routines.get(info.fieldName);
    const body = routine?.description.body ?? null;
    if (body && body.kind !== 'all rows') return callRoutine(world, routine!, args, this.#oracle, null);
    const lookup = world.tables.find(({ names }) => names.typeName === typeName);
    if (lookup) return asSource(await this.#byKey(lookup, args));
    if (body && !maySelectAll(world.role, body.table)) throw new RefusalError(`The role may not select all of ${body.table.name}.`);
    const connection = await this.#connection(tableByType(world, typeName), args, info, () => true);
    return routine ? { ...connection, isWhole: false } : connection;
  }

  /** By the primary key, or a unique one. PostgreSQL compares: one point in time, and one number, has many texts. */
  async #byKey(table: LoadedTable, args: Arguments): Promise<LoadedRow | undefined> {
    let rows = rowsOf(table);
    for (const [argument, value] of Object.entries(args)) {
      const { name } = [...table.names.primaryKey, ...table.names.columns].find(({ fieldName }) => fieldName === argument)!;
      const column = columnOf(table.description, name);
      if (!table.readable.includes(column)) throw new RefusalError(`${table.description.name}.${name}`);
      const { type } = column;
      const given = `${quoteLiteral(String(value))}::${type.sql}`;
      const texts = rows.map((row) => valueOf(row, name).text);
      const isEqual = await this.#oracle.compare(texts, type, '=', given);
      rows = rows.filter((_, index) => isEqual[index] === true);
    }
    return rows[0];
  }

  async #connection(
    table: LoadedTable,
    args: Arguments,
    info: GraphQLResolveInfo,
    isTied: (row: LoadedRow) => boolean,
    depths: Depths | null = null,
  ): Promise<ConnectionSource> {
    const argument = info.parentType.getFields()[info.fieldName]!.args.find(({ name }) => name === 'filter')!;
    const filterType = getNamedType(argument.type) as GraphQLInputObjectType;
    return { kind: 'connection', ...(await evaluateCollection(table, args, filterType, this.#oracle, isTied, depths)) };
  }

  async #connectionField(source: ConnectionSource, args: Arguments, info: GraphQLResolveInfo): Promise<unknown> {
    if (info.fieldName !== 'groups') return connectionField(source, args, info);
    const { table, passing } = source;
    const groups = await evaluateGroups(table, passing, args, this.#oracle);
    return groups.map((group) => ({ kind: 'group', table, group }));
  }

  async #rowField({ row, measures = {} }: RowSource, args: Arguments, info: GraphQLResolveInfo): Promise<unknown> {
    const { names } = row.table;
    if (info.fieldName === 'nodeId') return nodeIdOf(row);
    const shown = row.table.computed.get(info.fieldName);
    if (shown !== undefined) return computedText(valueOf(row, shown).text);
    const called = row.table.called.get(info.fieldName);
    if (called) return callRoutine(row.table.world, called, args, this.#oracle, row);
    const lineage = names.lineages.find(({ fieldName }) => fieldName === info.fieldName);
    if (lineage) {
      const depths = evaluateLineage(lineage, row, args.maxDepth);
      const connection = await this.#connection(
        tableByType(row.table.world, names.typeName),
        args,
        info,
        (other) => depths.has(other),
        depths,
      );
      return { ...connection, isWhole: false };
    }
    const relation = names.relations.find(({ fieldName }) => fieldName === info.fieldName);
    if (!relation) return this.#columnField(row, measures, args, info.fieldName);
    const target = tableByType(row.table.world, relation.target.typeName);
    const isTied = (other: LoadedRow) => areTied(relation, row, other);
    if (relation.kind === 'to-many') return { ...(await this.#connection(target, args, info, isTied)), isWhole: false };
    const { before } = row.table.world;
    const gone = before && !relation.nullable ? tableByType(before, relation.target.typeName).rows?.find(isTied) : undefined;
    return asSource(rowsOf(target).find(isTied) ?? gone);
  }

  /** A column, the bounds of one, or how the row matches a search. */
  #columnField(row: LoadedRow, measures: Measures, args: Arguments, field: string): unknown {
    const { description, names, world } = row.table;
    const column = names.columns.find(({ rowFieldName, selectable }) => rowFieldName === field && selectable);
    if (column) {
      const part = partOfColumn(row.table, column);
      return showValue(world, part.type, valueOfPart(row, part), args, columnOf(description, column.name).notNull);
    }
    const bounded = boundedColumn(row.table, field, 'rowFieldName');
    if (bounded !== undefined) return boundsOf(columnOf(description, bounded).type, valueOf(row, bounded).json);
    if (field === 'searchRank') return shownMeasure(measures.searchRank, row);
    return snippetOf(row, measures.search, args, this.#oracle);
  }
}

/** What the functions of random schemas make of a column. */
function computedText(text: string | null): string | null {
  return text === null ? null : `${text}?`;
}

export function asSource(row: LoadedRow | undefined): Source | null {
  return row ? { kind: 'row', row } : null;
}

async function connectionField(
  { table, passing, isWhole, page }: ConnectionSource,
  { exact }: Arguments,
  { fieldName }: GraphQLResolveInfo,
): Promise<unknown> {
  if (fieldName === 'totalCount' && exact === false && isWhole && table.estimate !== null) return rowsOf(table) && table.estimate;
  if (fieldName === 'totalCount') return rowsOf(table) && passing.length;
  if (fieldName === 'aggregate') return { kind: 'aggregate', table, passing };
  const evaluated = await page();
  if (fieldName === 'pageInfo') return { kind: 'page info', page: evaluated };
  return evaluated.rows.map((row) => ({ kind: 'edge', row, page: evaluated }));
}

function edgeField({ row, page }: Extract<Source, { kind: 'edge' }>, field: string): unknown {
  if (field === 'cursor') return cursorOf(row, page.keys);
  if (field === 'node') return { kind: 'row', row, measures: page.measures };
  return shownMeasure(page.measures[field as 'depth' | 'distance' | 'score'], row);
}

/** The values that the rows of a group share; null for what they are not grouped by. */
function groupKeyField(
  { world, table, keys, path }: Extract<Source, { kind: 'group key' }>,
  args: Arguments,
  { fieldName, returnType }: GraphQLResolveInfo,
): unknown {
  const type = getNamedType(returnType);
  if (isLeafType(type)) {
    const value = keys.get(groupKey([...keys.keys()], `${path}${fieldName}`, args.path) ?? '') ?? null;
    return type.name === 'JSON' ? showJson(world, jsonbType, value as string | null) : value;
  }
  const relation = table?.names.relations.find((each) => each.fieldName === fieldName);
  const target = relation ? tableByType(world, relation.target.typeName) : null;
  return { kind: 'group key', world, table: target, keys, path: `${path}${fieldName}.` };
}

function pageInfoField(page: Page, fieldName: string): unknown {
  if (fieldName === 'hasNextPage' || fieldName === 'hasPreviousPage') return page[fieldName];
  const row = fieldName === 'startCursor' ? page.rows[0] : page.rows.at(-1);
  return row ? cursorOf(row, page.keys) : null;
}

function findNode(world: World, nodeId: string): LoadedRow | undefined {
  const [, name] = JSON.parse(Buffer.from(nodeId, 'base64').toString()) as string[];
  const table = world.tables.find(({ description }) => description.name === name);
  return table && rowsOf(table).find((row) => nodeIdOf(row) === nodeId);
}
