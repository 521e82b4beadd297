/**
 * Walks a whole collection page by page by the cursors that the responses give, in both directions: every row must come exactly once, in
 * order. Each page is compared as any other answer is.
 */
import { type GraphQLInputObjectType, type GraphQLSchema, getNamedType } from 'graphql';
import { tableTypeName } from '../../src/model/naming/graphql-names.ts';
import { evaluateCollection } from './evaluate-collection.ts';
import { Examples } from './examples.ts';
import { isRestricted, type LoadedTable, nodeIdOf, type World } from './loaded-tables.ts';
import { orderKeys, sortRows } from './order-keys.ts';
import { PropertyFailure, RefusalError } from './property-failure.ts';
import { randomFinding } from './random-finding.ts';
import type { RandomOperation } from './random-selection.ts';
import type { RandomSource } from './random-source.ts';
import { RandomValues } from './random-values.ts';
import type { ValueOracle } from './value-oracle.ts';

type Ask = (operation: RandomOperation) => Promise<Record<string, unknown>>;

interface Walk {
  readonly field: string;
  /** What the collection is given, with the types of variables. */
  readonly given: ReadonlyMap<string, { readonly type: string; readonly value: unknown }>;
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
  const examples = new Examples(world);
  const values = new RandomValues(random, examples);
  const filterType = getNamedType(typeOf('filter')!) as GraphQLInputObjectType;
  const finding = randomFinding(random, field, table.names.typeName, examples);
  const distinctOn = (random.chance(0.25) && !finding.some(([name]) => name === 'nearest') && values.distinctOn(field)) || null;
  const args: Readonly<Record<string, unknown>> = {
    ...(random.chance(0.3) && { filter: values.filter(filterType, table.names.typeName, 1) }),
    ...(typeOf('orderBy') && random.chance(0.9) && { orderBy: values.orderBy(typeOf('orderBy')!) }),
    ...(distinctOn && { distinctOn }),
    ...Object.fromEntries(finding),
  };
  const given = new Map(Object.entries(args).map(([name, value]) => [name, { type: String(typeOf(name)), value }]));
  const walk: Walk = { field: field.name, given, size: random.integer(1, 3), isBackward: random.chance(0.5) };
  const expected = await expectedIds(table, args, filterType, oracle);
  if (!expected) return;
  const got = await collectPages(walk, ask, expected.length);
  if (JSON.stringify(got) === JSON.stringify(expected)) return;
  throw new PropertyFailure('A walk by cursors is not complete.', { variables: { ...walk, given: args }, expected, got });
}

/** Null where it has to be refused, such as an order of points. */
async function expectedIds(
  table: LoadedTable,
  args: Readonly<Record<string, unknown>>,
  filterType: GraphQLInputObjectType,
  oracle: ValueOracle,
): Promise<string[] | null> {
  try {
    const { passing, measures } = await evaluateCollection(table, args, filterType, oracle);
    // What is distinct is in order.
    if (Array.isArray(args.distinctOn) && args.distinctOn.length > 0) return passing.map(nodeIdOf);
    const order = await sortRows(table, await orderKeys(table, args.orderBy, oracle, measures), oracle);
    return order.filter((row) => passing.includes(row)).map(nodeIdOf);
  } catch (error) {
    if (error instanceof RefusalError) return null;
    throw error;
  }
}

function collectionOf(schema: GraphQLSchema, { names }: LoadedTable) {
  return Object.values(schema.getQueryType()!.getFields()).find(
    (field) => getNamedType(field.type).name === tableTypeName(names, 'Connection'),
  );
}

/** The nodeIds of all pages in the order of the collection. */
async function collectPages(walk: Walk, ask: Ask, most: number): Promise<string[]> {
  const query = pageQuery(walk);
  const given = Object.fromEntries([...walk.given].map(([name, { value }]) => [name, value]));
  const collected: string[] = [];
  let cursor: string | null = null;
  for (;;) {
    const answer = await ask({ query, variables: { ...given, size: walk.size, cursor } });
    const { edges, pageInfo }: PageAnswer = answer.walk as PageAnswer;
    const nodeIds = edges.map(({ node }) => node.nodeId);
    if (walk.isBackward) collected.unshift(...nodeIds);
    else collected.push(...nodeIds);
    if (!pageInfo.more || collected.length > most) return collected;
    cursor = pageInfo.cursor;
  }
}

function pageQuery({ field, given, isBackward }: Walk): string {
  const [sizeArgument, cursorArgument] = isBackward ? ['last', 'before'] : ['first', 'after'];
  const [more, cursor] = isBackward ? ['hasPreviousPage', 'startCursor'] : ['hasNextPage', 'endCursor'];
  const declared = [...given].map(([name, { type }]) => `, $${name}: ${type}`).join('');
  const passed = [...given.keys()].map((name) => `, ${name}: $${name}`).join('');
  return `query ($size: Int, $cursor: Cursor${declared}) {
  walk: ${field}(${sizeArgument}: $size, ${cursorArgument}: $cursor${passed}) {
    edges { node { nodeId } }
    pageInfo { more: ${more} cursor: ${cursor} }
  }
}`;
}
