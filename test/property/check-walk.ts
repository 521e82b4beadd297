/**
 * Walks a whole collection page by page by the cursors that the responses give, in both directions: every row must come exactly once, in
 * order. Each page is compared as any other answer is.
 */
import { type GraphQLInputObjectType, type GraphQLSchema, getNamedType } from 'graphql';
import { tableTypeName } from '../../src/model/naming/graphql-names.ts';
import { distinctRows } from './evaluate-distinct.ts';
import { filterRows } from './evaluate-filter.ts';
import { Examples } from './examples.ts';
import { isRestricted, type LoadedRow, type LoadedTable, nodeIdOf, rowsOf, type World } from './loaded-tables.ts';
import { orderKeys, sortRows } from './order-keys.ts';
import { PropertyFailure } from './property-failure.ts';
import type { RandomOperation } from './random-selection.ts';
import type { RandomSource } from './random-source.ts';
import { RandomValues } from './random-values.ts';
import type { ValueOracle } from './value-oracle.ts';

type Ask = (operation: RandomOperation) => Promise<Record<string, unknown>>;

interface Walk {
  readonly field: string;
  readonly types: Readonly<Record<'filter' | 'orderBy' | 'distinctOn', string>>;
  readonly filter: unknown;
  readonly orderBy: unknown;
  readonly distinctOn: readonly string[];
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
    types: { filter: String(typeOf('filter')), orderBy: String(typeOf('orderBy') ?? 'Int'), distinctOn: String(typeOf('distinctOn')) },
    filter: random.chance(0.3) ? values.filter(filterType, table.names.typeName, 1) : null,
    orderBy: typeOf('orderBy') && random.chance(0.9) ? values.orderBy(typeOf('orderBy')!) : null,
    distinctOn: (random.chance(0.25) && values.distinctOn(field)) || [],
    size: random.integer(1, 3),
    isBackward: random.chance(0.5),
  };
  const passing = (await filterRows(table, filterType, walk.filter, oracle)) ?? rowsOf(table);
  const expected = (await inOrder(table, passing, walk, oracle)).map(nodeIdOf);
  const got = await collectPages(walk, ask, expected.length);
  if (JSON.stringify(got) === JSON.stringify(expected)) return;
  throw new PropertyFailure('A walk by cursors is not complete.', { variables: walk, expected, got });
}

async function inOrder(table: LoadedTable, passing: readonly LoadedRow[], walk: Walk, oracle: ValueOracle): Promise<LoadedRow[]> {
  if (walk.distinctOn.length > 0) return distinctRows(table, passing, walk, oracle);
  const kept = new Set(passing);
  return (await sortRows(table, await orderKeys(table, walk.orderBy, oracle), oracle)).filter((row) => kept.has(row));
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
    const { filter, orderBy, distinctOn, size } = walk;
    const answer = await ask({ query, variables: { filter, orderBy, distinctOn, size, cursor } });
    const { edges, pageInfo }: PageAnswer = answer.walk as PageAnswer;
    const nodeIds = edges.map(({ node }) => node.nodeId);
    if (walk.isBackward) collected.unshift(...nodeIds);
    else collected.push(...nodeIds);
    if (!pageInfo.more || collected.length > most) return collected;
    cursor = pageInfo.cursor;
  }
}

function pageQuery({ field, types, orderBy, distinctOn, isBackward }: Walk): string {
  const [sizeArgument, cursorArgument] = isBackward ? ['last', 'before'] : ['first', 'after'];
  const [more, cursor] = isBackward ? ['hasPreviousPage', 'startCursor'] : ['hasNextPage', 'endCursor'];
  const names = (['orderBy', 'distinctOn'] as const).filter((name) => (name === 'orderBy' ? orderBy !== null : distinctOn.length > 0));
  const order = names.map((name) => `, ${name}: $${name}`).join('');
  const declaration = names.map((name) => `, $${name}: ${types[name]}`).join('');
  return `query ($filter: ${types.filter}, $size: Int, $cursor: Cursor${declaration}) {
  walk: ${field}(filter: $filter, ${sizeArgument}: $size, ${cursorArgument}: $cursor${order}) {
    edges { node { nodeId } }
    pageInfo { more: ${more} cursor: ${cursor} }
  }
}`;
}
