/** What an expression of a query is: whether it can be null, what it is computed from, by which collation it compares. */
import { asList, asNode, asNodes, flagIn, numberIn, type TreeNode, type TreeValue } from './parse-node-tree.ts';

/** A column of an item. `position` is that of the item in the range table, from 1. */
export interface ColumnReference {
  readonly position: number;
  readonly column: number;
}

/** PostgreSQL's `count(*)` and `count(value)`. */
const counts: readonly number[] = [2803, 2147];
/** Its casts of a count, a bigint, to other numbers: int4, int2, float8, numeric. */
const castsOfCounts: readonly number[] = [480, 714, 482, 1781];

/** PostgreSQL's own objects have lower ids (FirstNormalObjectId). */
const firstOwnId = 16384;
/** How a cast that PostgreSQL adds is written: not at all. */
const implicitCast = 2;
/** `coalesce`, before PostgreSQL 16 and since. */
const coalesceTypes: readonly string[] = ['COALESCE', 'COALESCEEXPR'];

/** Whether it is never null, and is the same each time that the same rows are read. */
export function isNeverNull(node: TreeNode | undefined): boolean {
  if (node === undefined) return false;
  if (node.type === 'FUNCEXPR')
    return castsOfCounts.includes(numberIn(node, 'funcid')) && asNodes(node.fields.get('args')).every(isNeverNull);
  if (node.type === 'AGGREF') return counts.includes(numberIn(node, 'aggfnoid')) && isPlainAggregate(node);
  if (!coalesceTypes.includes(node.type)) return false;
  const values = asNodes(node.fields.get('args'));
  return (
    values.some((value) => isConstant(value) || isNeverNull(value)) && values.every((value) => isConstant(value) || isPlainAggregate(value))
  );
}

/** Whether it is a constant other than null, possibly as another type. */
function isConstant(node: TreeNode): boolean {
  if (node.type === 'CONST') return !flagIn(node, 'constisnull');
  if (node.type !== 'FUNCEXPR' || numberIn(node, 'funcformat') !== implicitCast || numberIn(node, 'funcid') >= firstOwnId) return false;
  return asNodes(node.fields.get('args')).every(isConstant);
}

/** Whether it is a built-in aggregate of columns, so that it depends on nothing but the rows. */
function isPlainAggregate(node: TreeNode): boolean {
  if (node.type !== 'AGGREF' || numberIn(node, 'aggfnoid') >= firstOwnId || asNode(node.fields.get('aggfilter')) !== undefined)
    return false;
  return asNodes(node.fields.get('args')).every((entry) => asNode(entry.fields.get('expr'))?.type === 'VAR');
}

/** The expressions that add nothing to the values that they are computed from, and the label of their collation. */
const plainExpressions: Readonly<Record<string, string | null>> = {
  VAR: 'varcollid',
  CONST: 'constcollid',
  FUNCEXPR: 'funccollid',
  OPEXPR: 'opcollid',
  NULLIFEXPR: 'opcollid',
  DISTINCTEXPR: null,
  SCALARARRAYOPEXPR: null,
  BOOLEXPR: null,
  NULLTEST: null,
  BOOLEANTEST: null,
  RELABELTYPE: 'resultcollid',
  COERCEVIAIO: 'resultcollid',
  CASETESTEXPR: 'collation',
  AGGREF: 'aggcollid',
  // Of several nodes, PostgreSQL 16 changed the names.
  ...{ COLLATE: 'collOid', COLLATEEXPR: 'collOid', CASE: 'casecollid', CASEEXPR: 'casecollid', WHEN: null, CASEWHEN: null },
  ...{ COALESCE: 'coalescecollid', COALESCEEXPR: 'coalescecollid', MINMAX: 'minmaxcollid', MINMAXEXPR: 'minmaxcollid' },
};

export function collationOf(node: TreeNode | undefined): number {
  const label = node === undefined ? null : plainExpressions[node.type];
  return label ? numberIn(node!, label) : 0;
}

/** The columns that an expression reads; null if it may have another value each time that the same rows are read. */
export function readsOf(
  node: TreeNode | undefined,
  columnOf: (variable: TreeNode) => ColumnReference | null,
  volatileFunctions: ReadonlySet<number>,
): readonly ColumnReference[] | null {
  const found: ColumnReference[] = [];
  const waiting: (TreeValue | undefined)[] = [node];
  while (waiting.length > 0) {
    const value = waiting.pop();
    const inner = asNode(value);
    if (inner === undefined) waiting.push(...asList(value));
    else if (!(inner.type in plainExpressions) || callsOther(inner, volatileFunctions)) return null;
    else if (inner.type !== 'VAR') waiting.push(...inner.fields.values());
    else {
      const column = columnOf(inner);
      if (column === null) return null;
      found.push(column);
    }
  }
  return found;
}

/** Whether it calls a function that is volatile, or that is not PostgreSQL's own: then nothing is known of it. */
function callsOther(node: TreeNode, volatileFunctions: ReadonlySet<number>): boolean {
  if (node.type === 'AGGREF') return !isPlainAggregate(node);
  const id = node.fields.get('funcid') ?? node.fields.get('opfuncid');
  return id !== undefined && (Number(id) >= firstOwnId || volatileFunctions.has(Number(id)));
}
