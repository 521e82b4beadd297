import type { GraphQLRequest } from '../../src/index.ts';
import * as worst from '../../test/abuse/worst-documents.ts';

/**
 * The documents that `npm run bench:documents` measures: the largest that the default limits allow, and the ones that the limits exist to
 * reject.
 */

export interface AbusiveDocument {
  readonly name: string;
  readonly request: GraphQLRequest;
}

export const abusiveDocuments: readonly AbusiveDocument[] = (
  [
    ['4,900 equal columns', worst.equalFields(4_900)],
    ['1,000 aliases of a column', worst.aliasedColumns(1_000)],
    ['249 relations under aliases', worst.fewRelations(249)],
    ['200 root fields', worst.fewRootFields(200, 22)],
    ['200 mutations', worst.mutationFields(200)],
    ['relations 24 deep', worst.nestedRelations(24)],
    ['4,900 fields in 900 fragments', worst.wideFragments(900)],
    ['a chain of 999 fragments', worst.chainedFragments(999)],
    ['fragments spread to 4,800 fields', worst.spreadFragments(12)],
    ['450 equal relations', worst.equalRelations(450)],
    ['490 inline fragments of a relation', worst.overlappingInlineFragments(490)],
    ['50 operations', worst.manyOperations(50)],
    ['50 operations of 4,900 fields each', worst.sharedByOperations(50)],
    ['a filter of 900 variables', worst.manyVariables(900)],
    ['999 members of a filter', worst.orMembers(999)],
    ['999 members in a variable', worst.orMembersByVariable(999)],
    ['a filter 98 deep', worst.nestedNots(97)],
    ['9,900 elements in the document', worst.inList(9_900)],
    ['10,000 elements in a variable', worst.inListByVariable(10_000)],
    ['10,000 elements used 90 times', worst.listUsedOften(10_000, 90)],
    ['a text of 900 KB used 90 times', worst.textUsedOften(900_000, 90)],
    ['a text of 900 KB in 18 mutations', worst.textInsertedOften(900_000, 18)],
    ['10,000 rows of 3 columns', worst.insertedRows(10_000)],
    ['9,999 rows of 6 columns', worst.insertedAccounts(9_999)],
    ['19,900 rows of 3 columns', worst.insertedRows(19_900)],
    ['1,000 rows with 10 below each', worst.nestedRows(1_000, 10)],
    ['4,900 rows with 3 below each', worst.nestedRows(4_900, 3)],
    ['a row with 19,000 below it', worst.nestedRows(1, 19_000)],
    ['19,000 rows that are connected', worst.connectedRows(19_000)],
    ['9,900 rows that are found or inserted', worst.upsertedRows(9_900)],
    ['1,500 rows in the document', worst.insertedRowsInDocument(1_500)],
    ['a block string of 240,000 lines', worst.blockString(240_000)],
    ['a string of 250 KB', worst.longString(250_000)],
    ['130,000 comments', worst.longComment(130_000)],
    ['300,000 values in a nodeId', worst.valuesInNodeId(300_000)],
    ['a nodeId 300,000 deep', worst.nestedInNodeId(300_000)],
    ['a nodeId 100,000 deep in a filter', worst.filteredNodeId(100_000)],
    ['a nodeId 80,000 deep in the document', worst.nodeIdInDocument(80_000)],
    ['200,000 values in a cursor', worst.valuesInCursor(200_000)],
    ['9,000 values in each of 30 cursors', worst.valuesInCursors(30, 9_000)],
    ['990 values in each of 300 nodeIds', worst.connectedNodeIds(300, 990)],
    ['19,900 empty filters used 190 times', worst.emptyFiltersUsedOften(19_900, 190)],
    ['19,000 empty filters used 900 times in a filter', worst.emptyFiltersInAFilter(19_000, 900)],
    ['a filter of 450 values used 2,900 times', worst.nestedFiltersUsedOften(90, 2_900)],
    ['3,600 values in a fragment spread 190 times', worst.filtersInFragments(6, 85, 190)],
    ['730 values in a fragment spread 190 times', worst.filtersInFragments(2, 52, 190)],
    ['19,000 empty conditions used 190 times', worst.conditionsUsedOften(19_000, 190)],
    ['19,000 names of columns used 100 times', worst.updatedColumnsUsedOften(19_000, 100)],
    ['19,000 rows connected 100 times', worst.connectedRowsUsedOften(19_000, 100)],
    ['19,000 order keys', worst.ordersUsedOften(19_000, 1)],
    ['19,000 order keys used 3 times', worst.ordersUsedOften(19_000, 3)],
    ['19,000 order keys used 30 times', worst.ordersUsedOften(19_000, 30)],
    ['19,000 order keys of 3 mutations', worst.ordersOfMutations(19_000, 3)],
    ['19,000 order keys of groups used 3 times', worst.ordersOfGroups(19_000, 3)],
    ['3,900 order keys in the document', worst.ordersInDocument(3_900)],
    ['9,900 empty filters used 9 times', worst.emptyFiltersUsedOften(9_900, 9)],
    ['1,000 order keys', worst.ordersUsedOften(1_000, 1)],
    ['1,000 order keys after nulls', worst.ordersAfterNulls(1_000)],
    ['250 order keys of 4 mutations', worst.ordersOfMutations(250, 4)],
    ['250 order keys of groups used 4 times', worst.ordersOfGroups(250, 4)],
    ['9,900 empty filters used 9 times in a filter', worst.emptyFiltersInAFilter(9_900, 9)],
    ['a name of 250 KB', worst.longName(250_000)],
    ['an operation name of 900 KB', worst.longOperationName(900_000)],
    ['4,900 unknown fields', worst.unknownFields(4_900)],
    ['a cycle of 1,600 fragments on 100,000 lines', worst.cycle(1_600, 100_000)],
    ['2,800 directives', worst.directives(2_800)],
    ['introspection of types', worst.introspectionBomb(1)],
    ['introspection under 290 aliases', worst.introspectionAliases(290)],
    ['490 relations under aliases', worst.fewRelations(490)],
    ['2^20 selections in fragments', worst.doublingFragments(20)],
    ['2^14 selections in fragments', worst.doublingFragments(14)],
    ['2^14 types of introspection', worst.doublingRoots(14)],
    ['10,000 aliases', worst.aliasedColumns(10_000)],
    ['5,000 root fields', worst.rootFields(5_000)],
    ['40,000 members of a filter', worst.orMembers(40_000)],
    ['10,000 members in a variable', worst.orMembersByVariable(10_000)],
    ['pages of 1000, four deep', worst.pageProduct(1000, 4)],
    ['100,000 elements in a variable', worst.inListByVariable(100_000)],
    ['brackets that are never closed', worst.unclosed(60_000)],
  ] as const
).map(([name, request]) => ({ name, request }));

/** Measures how long the event loop is blocked during some work. */

export interface Measured<Result> {
  readonly result: Result;
  /** The longest turn of the event loop, in milliseconds. */
  readonly longestBlock: number;
  readonly milliseconds: number;
}

/** Does the work; a chain of immediates records the longest time between two turns meanwhile. */
export async function measureLongestBlock<Result>(work: () => Promise<Result>): Promise<Measured<Result>> {
  let longestBlock = 0;
  let running = true;
  const start = performance.now();
  let last = start;
  const note = (): void => {
    const now = performance.now();
    longestBlock = Math.max(longestBlock, now - last);
    last = now;
    if (running) setImmediate(note);
  };
  setImmediate(note);
  try {
    const result = await work();
    const milliseconds = performance.now() - start;
    // The turn in which the work ended counts to its end.
    await new Promise((resolve) => setImmediate(resolve));
    note();
    return { result, longestBlock, milliseconds };
  } finally {
    running = false;
  }
}
