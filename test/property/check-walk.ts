/**
 * Walks a whole collection page by page by the cursors that the responses give, in both directions: every row must come exactly once, in
 * order. Each page is compared as any other answer is.
 */
import { type GraphQLInputObjectType, type GraphQLSchema, getNamedType } from 'graphql';
import { tableTypeName } from '../../src/model/naming/graphql-names.ts';
import { filterRows } from './evaluate-filter.ts';
import { sortRows } from './evaluate-page.ts';
import { Examples } from './examples.ts';
import { isRestricted, type LoadedTable, nodeIdOf, rowsOf, type World } from './loaded-tables.ts';
import { orderKeys } from './order-keys.ts';
import { PropertyFailure } from './property-failure.ts';
import type { RandomOperation } from './random-selection.ts';
import type { RandomSource } from './random-source.ts';
import { RandomValues } from './random-values.ts';
import type { ValueOracle } from './value-oracle.ts';

type Ask = (operation: RandomOperation) => Promise<Record<string, unknown>>;

interface Walk {
  readonly field: string;
  readonly types: Readonly<Record<'filter' | 'orderBy', string>>;
  readonly filter: unknown;
  readonly orderBy: unknown;
  readonly size: number;
  readonly isBackward: boolean;
}

interface PageAnswer {
  readonly edges: readonly { readonly node: { readonly nodeId: string } }[];
  readonly pageInfo: { readonly more: boolean; readonly cursor: string | null };
}

/** Walks one collection, if the role sees any. */
export async function checkWalk(random: RandomSource, schema: GraphQLSchema, world: World, oracle: ValueOracle, ask: Ask): Promise<void> {
  const candidates = world.tables.filter(
    (table) => table.rows !== null && table.rows.length > 1 && table.maxRows > 0 && collectionOf(schema, table),
  );
  if (candidates.length === 0 || isRestricted(world)) return;
  const table = random.pick(candidates);
  const field = collectionOf(schema, table)!;
  const typeOf = (name: string) => field.args.find((argument) => argument.name === name)?.type;
  const values = new RandomValues(random, new Examples(world));
  const filterType = getNamedType(typeOf('filter')!) as GraphQLInputObjectType;
  const walk: Walk = {
    field: field.name,
    types: { filter: String(typeOf('filter')), orderBy: String(typeOf('orderBy') ?? 'Int') },
    filter: random.chance(0.3) ? values.filter(filterType, table.names.typeName, 1) : null,
    orderBy: typeOf('orderBy') && random.chance(0.9) ? values.orderBy(typeOf('orderBy')!) : null,
    size: random.integer(1, 3),
    isBackward: random.chance(0.5),
  };
  const passing = new Set((await filterRows(table, filterType, walk.filter, oracle)) ?? rowsOf(table));
  const sorted = await sortRows(table, await orderKeys(table, walk.orderBy, oracle), oracle);
  const expected = sorted.filter((row) => passing.has(row)).map(nodeIdOf);
  const got = await collectPages(walk, ask, expected.length);
  if (JSON.stringify(got) === JSON.stringify(expected)) return;
  throw new PropertyFailure('A walk by cursors is not complete.', { variables: walk, expected, got });
}

function collectionOf(schema: GraphQLSchema, { names }: LoadedTable) {
  return Object.values(schema.getQueryType()!.getFields()).find(
    (field) => getNamedType(field.type).name === tableTypeName(names, 'Connection'),
  );
}

/** The nodeIds of all pages in the order of the collection. */
async function collectPages(walk: Walk, ask: Ask, most: number): Promise<string[]> {
  const query = pageQuery(walk);
  const collected: string[] = [];
  let cursor: string | null = null;
  for (;;) {
    const { filter, orderBy, size } = walk;
    const answer = await ask({ query, variables: { filter, orderBy, size, cursor } });
    const { edges, pageInfo }: PageAnswer = answer.walk as PageAnswer;
    const nodeIds = edges.map(({ node }) => node.nodeId);
    if (walk.isBackward) collected.unshift(...nodeIds);
    else collected.push(...nodeIds);
    if (!pageInfo.more || collected.length > most) return collected;
    cursor = pageInfo.cursor;
  }
}

function pageQuery({ field, types, orderBy, isBackward }: Walk): string {
  const [sizeArgument, cursorArgument] = isBackward ? ['last', 'before'] : ['first', 'after'];
  const [more, cursor] = isBackward ? ['hasPreviousPage', 'startCursor'] : ['hasNextPage', 'endCursor'];
  const order = orderBy === null ? '' : ', orderBy: $orderBy';
  const declaration = orderBy === null ? '' : `, $orderBy: ${types.orderBy}`;
  return `query ($filter: ${types.filter}, $size: Int, $cursor: Cursor${declaration}) {
  walk: ${field}(filter: $filter, ${sizeArgument}: $size, ${cursorArgument}: $cursor${order}) {
    edges { node { nodeId } }
    pageInfo { more: ${more} cursor: ${cursor} }
  }
}`;
}
